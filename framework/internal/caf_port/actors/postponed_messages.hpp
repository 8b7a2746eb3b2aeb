// The messages of one actor that wait in its mailbox until the values of their arguments are here.
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

/// One argument that is not its value, or not yet.
struct resolved_argument {
  std::size_t position;
  const value_kind* kind;
  bool is_held = false;                 // The element is no reference: `value` points into it.
  object_state_ptr state;               // Null for an empty reference, too.
  std::shared_ptr<running_fetch> fetch; // Null where none is needed.
  std::shared_ptr<void> value;          // Once it is decoded.
};

/// A message for a handler, with the values for its references. Its end gives up the fetches.
class resolved_message {
public:
  resolved_message(const resolving_handler& handler, std::vector<resolved_argument> arguments)
      : handler_(handler), arguments_(std::move(arguments)) {}
  resolved_message(const resolved_message&) = delete;
  resolved_message& operator=(const resolved_message&) = delete;
  ~resolved_message();

  /// Starts the fetches. `when_here` is called once they are all answered, on any thread, unless they are before this
  /// returns: then it gives true.
  [[nodiscard]] bool fetch(std::function<void()> when_here);

  /// Fails where a value cannot be had. Requires: all are answered.
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

/// What an element holds that stands for the parameter's type, if it does.
[[nodiscard]] standing_in open_element(const stand_ins& others, const caf::type_erased_tuple& elements,
                                       std::size_t position);

/// A message stays in CAF's mailbox, skipped, and this knows it by its place there. Another behavior may take it out
/// unseen; then what is known of it is forgotten when it is met.
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
    const caf::actor_control_block* sender; // To compare only.
    std::uint64_t category;
    bool in_order; // Those of its sender behind it wait; not any more once its handler has skipped it.
    std::unique_ptr<resolved_message> message;
  };

  /// Null when the message is not among them. Requires: it is the one that is handled now.
  [[nodiscard]] entry* find(const caf::mailbox_element& element);

  /// Whether one that came before it from the same sender has not been handled.
  [[nodiscard]] bool is_behind_another(const caf::mailbox_element& element);

  /// `in_order`: false when its handler has skipped it, with the values.
  void add(const caf::mailbox_element& element, std::unique_ptr<resolved_message> message, bool in_order = true);

  /// Takes one out to be run, and puts it back when its handler has skipped it.
  struct taken {
    entry what;
    std::size_t index;
  };
  [[nodiscard]] taken take(entry* which);
  void put_back(taken back);

  /// Has the actor look at its messages again; may be called on any thread, also when the actor has ended. Keeps the
  /// actor until it is dropped: nobody else may refer to an actor that only waits for its messages' values.
  [[nodiscard]] std::function<void()> waking(const caf::mailbox_element& element) const;

private:
  /// Fetches end with the actor also where the behavior does not. To be called after each change.
  void watch_or_not();
  void forget_those_gone();

  caf::scheduled_actor* const self_;
  const caf::weak_actor_ptr itself_;
  std::vector<entry> all_; // In the order in which they came.
  bool watches_ = false;
  std::size_t sweep_at_ = 16;
};

} // namespace troupe::internal
