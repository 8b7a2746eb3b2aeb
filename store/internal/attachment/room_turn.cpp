#include <troupe/store/internal/attachment/room_turn.hpp>

#include <troupe/store/internal/host/clock.hpp>

namespace troupe::store::internal {

namespace {

// A waiter that has not looked for this time is stopped, or writes to a slow disk. Later waiters pass it meanwhile.
constexpr auto waiter_life = std::chrono::nanoseconds{std::chrono::seconds{5}};

} // namespace

room_turn::~room_turn() {
  if (row_ == no_row)
    return;
  if (const auto guard = access_.lock())
    object_table(*guard).remove_waiter(row_);
  else if (guard.error().code() == store_errc::busy)
    view_.waiter(row_).expires_ns = 0;
  changes_.announce(); // The next waiter may be the first now.
}

std::uint64_t room_turn::wanted_ahead(table_held held) const {
  auto table = object_table(held);
  if (!table.anybody_waits())
    return 0;
  const auto now_ns = monotonic_ns();
  if (row_ != no_row)
    view_.waiter(row_).expires_ns = now_ns + waiter_life.count();
  return table.wanted_ahead(row_, now_ns);
}

outcome room_turn::take(table_held held, std::uint64_t size_bytes) {
  if (row_ != no_row)
    return outcome::done;
  return object_table(held).add_waiter(self_, size_bytes, monotonic_ns() + waiter_life.count(), row_);
}

} // namespace troupe::store::internal
