// The interfaces through which the exchange's core acts on its surroundings.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <troupe/framework/internal/handles/actions.hpp>
#include <troupe/framework/internal/handles/messages.hpp>
#include <troupe/framework/internal/handles/timers.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

/// The outcome of one fetch. On success it carries one reference, which keeps the bytes until it is dropped.
struct fetch_answer {
  handles::waiter_id waiter = 0;
  handles::reference object;
  handles::fetch_error why; // `error` says it in words.
  std::optional<node_error> error;
};

/// Proves that the calling thread has its turn at a core. Only one thread at a time has it.
class core_turn {
  friend class exchange_core; // Only the core makes proofs.
  core_turn() = default;
};

/// A value that can be accessed only during a core's turn.
template <class Value>
class core_guarded {
public:
  [[nodiscard]] Value& in(core_turn) noexcept { return value_; }
  [[nodiscard]] const Value& in(core_turn) const noexcept { return value_; }

private:
  Value value_{};
};

// Every member of the interfaces below notes a task and returns at once: none waits, none calls the core.

/// Connects the core with links and time.
class core_errands {
public:
  virtual ~core_errands() = default;

  /// That link has something to write, or has to end.
  virtual void write_soon(core_turn, handles::link_number link) = 0;
  /// tick() is due at `when`, which is earlier than announced before.
  virtual void wake_at(core_turn, handles::time_point when) = 0;
  /// Node `who` could supply a handle.
  virtual void dial(core_turn, const handles::node_name& who) = 0;
};

/// Makes the rooms that the core wants.
class room_maker {
public:
  virtual ~room_maker() = default;

  /// Makes a builder. Answers with room_made(), room_found() or room_failed().
  virtual void make(core_turn, handles::room_id which, std::uint64_t size_bytes,
                    const std::optional<handles::original>& of) = 0;
  /// Seals the room with these captured objects. Answers with room_sealed() or room_failed().
  virtual void seal(core_turn, handles::room_id which, std::vector<store::object_id> captured) = 0;
  /// Drops the room in any state. The core ignores late answers.
  virtual void drop(core_turn, handles::room_id which) = 0;
  /// Rooms that wait for other rooms to be filled may try again.
  virtual void room_is_left(core_turn) = 0;
};

/// Keeps the bytes of this node's own objects that wait for the objects that they capture.
class object_finisher {
public:
  virtual ~object_finisher() = default;

  /// Makes the object, with these captured objects. Answers with room_sealed() or room_failed().
  virtual void finish(core_turn, handles::room_id as, handles::reference own,
                      std::vector<store::object_id> captured) = 0;
  /// The object's bytes are no longer needed.
  virtual void forget(core_turn, handles::reference own) = 0;
};

/// Tells callers how their fetches have ended.
class caller_answers {
public:
  virtual ~caller_answers() = default;

  virtual void answer(core_turn, fetch_answer what) = 0;
};

/// All surroundings of one core.
struct exchange_surroundings {
  core_errands& errands;
  room_maker& rooms;
  object_finisher& unfinished;
  caller_answers& callers;
};

} // namespace troupe::internal
