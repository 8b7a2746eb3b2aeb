// The messages of one actor that stay in its mailbox until the values of their arguments are here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <vector>

#include <caf/actor_control_block.hpp>
#include <caf/mailbox_element.hpp>
#include <caf/scheduled_actor.hpp>
#include <caf/type_erased_tuple.hpp>

#include <troupe/framework/internal/caf_port/actors/resolving_behavior.hpp>
#include <troupe/framework/internal/objects/running_fetch.hpp>

namespace troupe::internal {

/// One argument for which the message has no value of the parameter's type, or not at once.
struct resolved_argument {
  std::size_t position;
  const value_kind* kind;
  bool is_held = false;                 // The element holds a value, not a reference: `value` points into the element.
  object_state_ptr state;               // Also null for an empty reference.
  std::shared_ptr<running_fetch> fetch; // Null if none is needed.
  std::shared_ptr<void> value;          // Set once decoded.
};

/// A message for a handler, with the values for its references. The destructor gives up the fetches.
class resolved_message {
public:
  resolved_message(const resolving_handler& handler, std::vector<resolved_argument> arguments)
      : handler_(handler), arguments_(std::move(arguments)) {}
  resolved_message(const resolved_message&) = delete;
  resolved_message& operator=(const resolved_message&) = delete;
  ~resolved_message();

  /// Starts the fetches. Returns true if all are answered at once. Otherwise calls `when_here` when all are answered,
  /// on any thread.
  [[nodiscard]] bool fetch(std::function<void()> when_here);

  /// Decodes the values. Fails if one could not be fetched or decoded. Requires: all fetches are answered.
  [[nodiscard]] std::expected<void, node_error> decode();

  /// Calls the handler. Requires: decoded.
  [[nodiscard]] caf::match_case::result run(caf::detail::invoke_result_visitor& visitor,
                                            caf::type_erased_tuple& elements) const;

  [[nodiscard]] bool is_answered() const;
  /// Whether it was made for a message with these elements.
  [[nodiscard]] bool is_of(const caf::type_erased_tuple& elements) const;

private:
  const resolving_handler& handler_;
  std::vector<resolved_argument> arguments_;
};

/// The reference or value in an element that stands for the parameter's type. Empty if the element does not stand for
/// it.
[[nodiscard]] standing_in open_element(const stand_ins& others, const caf::type_erased_tuple& elements,
                                       std::size_t position);

/// Remembers, by their addresses, messages that stay in CAF's mailbox as skipped. Another behavior may take such a
/// message out unseen. The entry is then dropped when its address occurs again.
///
/// Threads: the actor's own.
class postponed_messages {
public:
  explicit postponed_messages(caf::scheduled_actor* self);
  ~postponed_messages();
  postponed_messages(const postponed_messages&) = delete;
  postponed_messages& operator=(const postponed_messages&) = delete;

  [[nodiscard]] bool empty() const noexcept { return all_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }

  struct entry {
    const caf::mailbox_element* element;
    const caf::actor_control_block* sender; // Used only as a key.
    std::uint64_t category;
    bool in_order; // Later messages of its sender wait for it; false once its handler has skipped it.
    std::unique_ptr<resolved_message> message;
  };

  /// The entry of a message; null if there is none. Requires: the message is being handled now.
  [[nodiscard]] entry* find(const caf::mailbox_element& element);

  /// Whether an earlier message of the same sender has not been handled yet.
  [[nodiscard]] bool is_behind_another(const caf::mailbox_element& element);

  /// Adds a message. `in_order` is false if its handler has skipped it although the values were there.
  void add(const caf::mailbox_element& element, std::unique_ptr<resolved_message> message, bool in_order = true);

  /// Takes an entry out to run its handler. If the handler has skipped the message, put_back() restores the entry.
  struct taken {
    entry what;
    std::size_t index;
  };
  [[nodiscard]] taken take(entry* which);
  void put_back(taken back);

  /// A function that makes the actor go through its skipped messages again. Any thread may call it, even after the
  /// actor has ended. It keeps the actor alive until it is dropped, because there may be no other reference to an actor
  /// that only waits for its messages' values.
  [[nodiscard]] std::function<void()> waking(const caf::mailbox_element& element) const;

private:
  /// Gives up fetches when the actor ends, even if the behavior outlives it. Must be called after each change.
  void watch_or_not();
  void forget_those_gone();

  caf::scheduled_actor* const self_;
  const caf::weak_actor_ptr itself_;
  std::vector<entry> all_; // In order of arrival.
  bool watches_ = false;
  std::size_t sweep_at_ = 16;
};

} // namespace troupe::internal
