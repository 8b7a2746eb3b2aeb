// What one message has claimed from its link, and how the link gets it back if the message does not leave.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <troupe/framework/internal/caf_port/actor_pointers.hpp>
#include <troupe/framework/internal/flow/consumption.hpp>
#include <troupe/framework/internal/link/actor_names.hpp>
#include <troupe/framework/internal/link/change_acknowledger.hpp>
#include <troupe/framework/internal/link/negotiation.hpp>
#include <troupe/framework/internal/link/pending_requests.hpp>
#include <troupe/framework/internal/net/link_mutex.hpp>
#include <troupe/framework/internal/objects/codec_mentions.hpp>
#include <troupe/framework/internal/objects/flight_claims.hpp>
#include <troupe/framework/internal/objects/link_objects.hpp>
#include <troupe/framework/internal/wire/outbox.hpp>
#include <troupe/framework/internal/wire/packet.hpp>
#include <troupe/store/handle.hpp>

namespace troupe::internal {

/// The tables of a link from which messages claim. The link's lock guards them all.
struct claim_tables {
  link_mutex& mutex;
  actor_names& actors;
  link_objects<store::handle>& objects;
  pending_requests& requests;
  negotiation& epochs;
  change_acknowledger& changes; // Told when a message that delays an acknowledgement has left, or never will.
};

/// What one message has claimed from its link. The destructor gives it back unless it was committed.
///
/// In any case the destructor drops what the message keeps alive: mentioned actors of the peer, and another link's
/// receipt.
/// Lifetime: must be neither destroyed nor cleared under the link's lock.
class message_claims {
public:
  message_claims() = default;
  message_claims(message_claims&& other) noexcept { *this = std::move(other); }
  message_claims& operator=(message_claims&& other) noexcept;
  ~message_claims() { end(); }

  /// Claims from these tables until commit() or clear(). Requires: new or cleared.
  void begin(claim_tables& of) noexcept {
    tables_ = &of;
    flights_.begin(of.objects);
  }

  // -- claiming, while the message is encoded

  /// Calls `name` to name an actor. Records the naming if it has counted an actor of this end.
  template <class Name>
  actor_name actor(Name&& name) {
    actors_.push_back(0); // Pushed first: if there is no memory, nothing stays counted.
    const actor_name named = name();
    if (named.whose == actor_name::side::mine)
      actors_.back() = named.number;
    else
      actors_.pop_back();
    return named;
  }
  /// The objects in the shared store that the message hands over.
  [[nodiscard]] flight_claims<store::handle>& flights() noexcept { return flights_; }
  [[nodiscard]] const flight_claims<store::handle>& flights() const noexcept { return flights_; }
  /// If the peer changes its lists, this end acknowledges that only after this message. `number` is the epoch of the
  /// lists that encode it.
  void epoch(const link_held&, std::uint64_t number);
  [[nodiscard]] bool has_epoch() const noexcept { return epoch_.has_value(); }

  /// Keeps a proxy of the peer's actor, so that it is released to the peer only after the message.
  void keep(caf::strong_actor_ptr proxy) { kept_.push_back(std::move(proxy)); }
  /// The sender on another link waits until the message has left.
  void owe(receipt to) noexcept { owed_ = std::move(to); }
  [[nodiscard]] receipt take_owed() noexcept { return std::move(owed_); }

  // -- claiming, once the message may leave

  /// Records that the message's sender was exported under that number, counted once.
  void sender(const link_held&, std::uint64_t number) noexcept { sender_ = number; }
  /// The peer may pass the message back to this node once, in the sender's name. Requires: sender().
  void allow_return(const link_held&);
  /// Notes the question that the message asks as pending.
  void question(const link_held&, const question_key& key, std::uint64_t receiver, waiting_asker asker);
  [[nodiscard]] const question_key& question() const noexcept { return question_; }
  /// The message forwards the request of `asker`, which stands for another link's requester. Once the message leaves,
  /// the answer comes from elsewhere.
  void excuses(caf::strong_actor_ptr asker) noexcept { to_excuse_ = std::move(asker); }
  void excuse_asker();

  [[nodiscard]] std::size_t actors() const noexcept { return actors_.size(); }

  // -- the end

  /// The message has been appended to the outbox. All its claims pass to the peer.
  void commit(const link_held& held, outbox& out);
  /// The message will not leave. Gives its claims back and tells the requester the reason.
  void fail(const node_error& why);
  /// Gives back what was not committed. Then the state is that of a new object, but its lists keep their memory.
  void clear();

private:
  struct given_back {
    std::optional<waiting_asker> asker;         // The requester to tell.
    std::vector<caf::strong_actor_ptr> senders; // Some requesters live by these only: keep them until those are told.
  };
  given_back give_back();
  void end() {
    if (tables_ != nullptr)
      give_back();
  }

  claim_tables* tables_ = nullptr; // Null: there is nothing to give back.
  std::vector<std::uint64_t> actors_;
  flight_claims<store::handle> flights_;
  std::uint64_t sender_ = 0;
  bool may_return_ = false;
  question_key question_;
  std::uint64_t asked_ = 0; // The receiver of the question.
  std::optional<std::uint64_t> epoch_;
  std::vector<caf::strong_actor_ptr> kept_;
  caf::strong_actor_ptr to_excuse_;
  receipt owed_;
};

} // namespace troupe::internal
