// What the core of the exchange has others do.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <troupe/framework/internal/handles/actions.hpp>
#include <troupe/framework/internal/handles/messages.hpp>
#include <troupe/framework/internal/handles/timers.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

/// The end of one fetch. Without an error it brings one reference, which keeps the bytes until it is dropped.
struct fetch_answer {
  handles::waiter_id waiter = 0;
  handles::reference object;
  handles::fetch_error why; // And in words:
  std::optional<node_error> error;
};

/// Proves that it is the calling thread's turn at a core, which one thread at a time has.
class core_turn {
  friend class exchange_core; // Nobody else makes proofs.
  core_turn() = default;
};

/// Can be looked at in such a turn only.
template <class Value>
class core_guarded {
public:
  [[nodiscard]] Value& in(core_turn) noexcept { return value_; }
  [[nodiscard]] const Value& in(core_turn) const noexcept { return value_; }

private:
  Value value_{};
};

// Each member of these notes what is to be done and returns at once: none waits, none calls the core.

/// Brings the core together with links and time.
class core_errands {
public:
  virtual ~core_errands() = default;

  /// There is something to be written on that link, or it is to be ended.
  virtual void write_soon(core_turn, handles::link_number link) = 0;
  /// tick() is due then, which is earlier than it was said before.
  virtual void wake_at(core_turn, handles::time_point when) = 0;
  /// A handle could be had from there.
  virtual void dial(core_turn, const handles::node_name& who) = 0;
};

/// Makes the rooms that the core wants.
class room_maker {
public:
  virtual ~room_maker() = default;

  /// Make a builder; answer with room_made(), room_found() or room_failed().
  virtual void make(core_turn, handles::room_id which, std::uint64_t size_bytes,
                    const std::optional<handles::original>& of) = 0;
  /// Seal it, with these captured; answer with room_sealed() or room_failed().
  virtual void seal(core_turn, handles::room_id which, std::vector<store::object_id> captured) = 0;
  /// Forget it in whatever state it is. Answers that come late are ignored.
  virtual void drop(core_turn, handles::room_id which) = 0;
  /// Rooms that wait for others to be filled may look again.
  virtual void room_is_left(core_turn) = 0;
};

/// Has the bytes of this node's own objects that wait for what they capture.
class object_finisher {
public:
  virtual ~object_finisher() = default;

  /// Make it, with these captured; answer with room_sealed() or room_failed().
  virtual void finish(core_turn, handles::room_id as, handles::reference own,
                      std::vector<store::object_id> captured) = 0;
  /// Its bytes are not needed any more.
  virtual void forget(core_turn, handles::reference own) = 0;
};

/// Tells callers how their fetches have ended.
class caller_answers {
public:
  virtual ~caller_answers() = default;

  virtual void answer(core_turn, fetch_answer what) = 0;
};

/// All of them.
struct exchange_surroundings {
  core_errands& errands;
  room_maker& rooms;
  object_finisher& unfinished;
  caller_answers& callers;
};

} // namespace troupe::internal
