// What one message has taken of its link, and how it comes back where the message does not leave.
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

/// The tables of a link in which messages claim something, all guarded by its lock.
struct claim_tables {
  link_mutex& mutex;
  actor_names& actors;
  link_objects<store::handle>& objects;
  pending_requests& requests;
  negotiation& epochs;
  change_acknowledger& changes; // Once a message for which the peer may wait has left, or never will.
};

/// What one message has taken of its link: given back by the destructor, unless it was committed.
///
/// What it keeps alive beside (the peer's actors that it mentions, the receipt of another link) ends with it in any
/// case. Lifetime: is neither destroyed nor cleared under the link's lock.
class message_claims {
public:
  message_claims() = default;
  message_claims(message_claims&& other) noexcept { *this = std::move(other); }
  message_claims& operator=(message_claims&& other) noexcept;
  ~message_claims() { end(); }

  /// From here on, until commit() or clear(), it takes from those tables. Requires: new or cleared.
  void begin(claim_tables& of) noexcept {
    tables_ = &of;
    flights_.begin(of.objects);
  }

  // -- taking, while the message is encoded

  /// `name` exports an actor of this end, counting it once, or finds that it is none.
  template <class Name>
  actor_name actor(Name&& name) {
    actors_.push_back(0); // First, so that nothing stays counted where there is no memory.
    const actor_name named = name();
    if (named.whose == actor_name::side::mine)
      actors_.back() = named.number;
    else
      actors_.pop_back();
    return named;
  }
  /// What it has handed over in the store of both ends, and will.
  [[nodiscard]] flight_claims<store::handle>& flights() noexcept { return flights_; }
  [[nodiscard]] const flight_claims<store::handle>& flights() const noexcept { return flights_; }
  /// The peer waits for the message where it changes its lists: those of this epoch have made it.
  void epoch(const link_held&, std::uint64_t number);
  [[nodiscard]] bool has_epoch() const noexcept { return epoch_.has_value(); }

  /// One of the peer's actors, released to the peer after the message only.
  void keep(caf::strong_actor_ptr proxy) { kept_.push_back(std::move(proxy)); }
  /// Another link's sender waits until the message has left.
  void owe(receipt to) noexcept { owed_ = std::move(to); }
  [[nodiscard]] receipt take_owed() noexcept { return std::move(owed_); }

  // -- taking, once it may leave

  /// Its sender, exported under that number, counted once.
  void sender(const link_held&, std::uint64_t number) noexcept { sender_ = number; }
  /// The peer may pass the message on to this node with its sender as sender, once. Requires: sender().
  void allow_return(const link_held&);
  /// It asks a question.
  void question(const link_held&, const question_key& key, std::uint64_t receiver, waiting_asker asker);
  [[nodiscard]] const question_key& question() const noexcept { return question_; }
  /// A stand-in for another link's asker forwards its request by this message: answered elsewhere once it leaves.
  void excuses(caf::strong_actor_ptr asker) noexcept { to_excuse_ = std::move(asker); }
  void excuse_asker();

  [[nodiscard]] std::size_t actors() const noexcept { return actors_.size(); }

  // -- the end

  /// The message has been appended: all that it took is the peer's now.
  void commit(const link_held& held, outbox& out);
  /// The message will not leave: gives back what it took, and tells the asker of its request the reason.
  void fail(const node_error& why);
  /// Gives back what was not committed. Then new, but for the lists' memory.
  void clear();

private:
  struct given_back {
    std::optional<waiting_asker> asker;         // Of its request, to be told.
    std::vector<caf::strong_actor_ptr> senders; // Some askers live by these only: to be kept until they are told.
  };
  given_back give_back();
  void end() {
    if (tables_ != nullptr)
      give_back();
  }

  claim_tables* tables_ = nullptr; // Null: nothing is to be given back.
  std::vector<std::uint64_t> actors_;
  flight_claims<store::handle> flights_;
  std::uint64_t sender_ = 0;
  bool may_return_ = false;
  question_key question_;
  std::uint64_t asked_ = 0; // The question's receiver.
  std::optional<std::uint64_t> epoch_;
  std::vector<caf::strong_actor_ptr> kept_;
  caf::strong_actor_ptr to_excuse_;
  receipt owed_;
};

} // namespace troupe::internal
