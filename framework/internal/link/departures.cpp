#include <troupe/framework/internal/link/departures.hpp>

#include <chrono>
#include <span>

#include <troupe/framework/internal/wire/message_deadline.hpp>

namespace troupe::internal {

void departures::append(const link_held& held, std::uint8_t flags, bytes_view begin, bytes_view end,
                        message_cargo& cargo, outbox& out) {
  if (!cargo.mentions.empty())
    mentions_.append_mentions(held, cargo.mentions, out);
  const auto is_value = cargo.value.has_value();
  out.append_packet(is_value ? packet_kind::value : packet_kind::message, flags, begin, end);
  if (is_value)
    values_->push(cargo.value);
  cargo.claims.commit(held, out);
}

bool departures::leave(const link_held& held, packed_message message, outbox& out) {
  const auto later = is_bulk(held, message, message.receiver, message.sender, message.flags);
  if (later)
    bulk_.add(std::move(message));
  else
    append_packed(held, std::move(message), out);
  return later;
}

bool departures::append_next(const link_held& held, outbox& out) {
  if (bulk_.empty())
    return false;
  auto step = bulk_.next();
  if (step.chunk) {
    byte_vector start;
    append_chunk_head(start, *step.chunk, step.first);
    out.append_packet(packet_kind::chunk, step.first ? chunk_flags::first : std::uint8_t{0}, start,
                      std::move(step.bytes));
  } else {
    append_packed(held, *std::move(step.message), out);
  }
  return true; // The next call says whether there was more.
}

void departures::append_packed(const link_held& held, packed_message message, outbox& out) {
  if (message.deadline_at != 0)
    state_time_left(std::span{message.body}.subspan(message.deadline_at, deadline_bytes),
                    std::chrono::steady_clock::now());
  append(held, message.flags, message.body, {}, message, out);
  out.keep(std::make_shared<packed_message>(std::move(message))); // Its frames are released outside the lock.
}

} // namespace troupe::internal
