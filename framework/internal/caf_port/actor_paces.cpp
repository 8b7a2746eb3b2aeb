#include <troupe/framework/internal/caf_port/actor_paces.hpp>

#include <algorithm>
#include <bit>

namespace troupe::internal {

namespace {

constexpr std::uint32_t doublings_of(std::uint32_t left_out) {
  return static_cast<std::uint32_t>(std::bit_width(left_out));
}
constexpr std::uint32_t left_out_of(std::uint32_t doublings) {
  return doublings == 0 ? 0 : 1u << (doublings - 1);
}

} // namespace

static_assert(actor_paces::messages_max < 128);
static_assert(doublings_of(actor_paces::left_out_max) < 16);
static_assert(left_out_of(doublings_of(actor_paces::left_out_max)) == actor_paces::left_out_max);
static_assert(actor_paces::left_out_max < 8192);

actor_paces::pace actor_paces::unpack(std::uint64_t word) noexcept {
  return {.tag = static_cast<std::uint32_t>(word >> 32),
          .messages = static_cast<std::uint32_t>(word) & 127,
          .left_out = (static_cast<std::uint32_t>(word) >> 7) & 15,
          .to_leave_out = (static_cast<std::uint32_t>(word) >> 11) & 8191,
          .is_suspect = (static_cast<std::uint32_t>(word) >> 24) & 1};
}

std::uint64_t actor_paces::pack(const pace& what) noexcept {
  return (std::uint64_t{what.tag} << 32) | what.messages | (what.left_out << 7) | (what.to_leave_out << 11)
         | (what.is_suspect << 24);
}

std::uint64_t actor_paces::hash_of(const void* actor) noexcept {
  const auto mixed = (reinterpret_cast<std::uintptr_t>(actor) >> 4) * std::uint64_t{0x9e3779b97f4a7c15};
  return mixed | (std::uint64_t{1} << 32); // Makes every tag nonzero.
}

std::atomic<std::uint64_t>& actor_paces::place_of(std::uint64_t hash) noexcept {
  return table_[(hash >> 22) % table_.size()];
}

/// A fresh entry if the actor is not known.
actor_paces::pace actor_paces::find(const void* actor) const noexcept {
  const auto hash = hash_of(actor);
  const auto tag = static_cast<std::uint32_t>(hash >> 32);
  auto found = unpack(table_[(hash >> 22) % table_.size()].load(std::memory_order_relaxed));
  return found.tag == tag ? found : pace{.tag = tag, .messages = messages_unknown};
}

std::uint32_t actor_paces::admit(const void* actor) noexcept {
  auto known = find(actor);
  if (known.to_leave_out == 0)
    return known.messages;
  --known.to_leave_out;
  place_of(hash_of(actor)).store(pack(known), std::memory_order_relaxed);
  return 0;
}

std::uint32_t actor_paces::messages(const void* actor) const noexcept {
  return find(actor).messages;
}

void actor_paces::took(const void* actor, std::uint32_t messages, bool all, std::chrono::nanoseconds time) noexcept {
  const auto before = find(actor);
  auto now = before;
  if (time < long_turn) {
    // If the turn had fewer messages than allowed, a single message may have taken all the time.
    const auto of_each = all ? time / std::max(messages, 1u) : time;
    if (2 * before.messages * of_each <= long_turn)
      now.messages = std::min(2 * before.messages, messages_max);
    now.left_out = before.left_out == 0 ? 0 : before.left_out - 1;
    now.is_suspect = 0;
  } else if (messages > 1) {
    // Assumes equal shares; if one message took most of the time, further turns show it.
    const auto fitting = messages * (long_turn / 2) / time;
    now.messages = static_cast<std::uint32_t>(std::max<std::int64_t>(fitting, 1));
  } else {
    if (before.is_suspect != 0)
      now.left_out = std::min(before.left_out + 1, doublings_of(left_out_max));
    now.is_suspect = 1;
  }
  now.to_leave_out = left_out_of(now.left_out);
  if (pack(now) != pack(before))
    place_of(hash_of(actor)).store(pack(now), std::memory_order_relaxed);
}

} // namespace troupe::internal
