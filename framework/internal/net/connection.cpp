#include <troupe/framework/internal/net/connection.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/net/io_batch.hpp>
#include <troupe/framework/internal/threads/io_timer.hpp>

namespace troupe::internal {

namespace {

// The buffer of an open link, which grows to the largest packet. Before the link is open, it has room for the largest
// packet of an unproven peer.
constexpr std::size_t read_buffer_bytes = 64_KiB;
constexpr std::size_t first_read_buffer_bytes = packet_head_bytes + unproven_body_bytes_max;

// The bounds of one turn: packets and time, because a few bytes may be much work. The clock is read after every fourth
// packet, and after larger ones.
constexpr int packets_per_turn = 32;
constexpr int packets_per_look = 4;
constexpr std::size_t larger_packet_bytes = 1_KiB;
constexpr std::chrono::microseconds turn_time{500};
// Reading the clock costs a tenth of a message. If a turn took less than this so far, its packets are short, and the
// clock is read less often.
constexpr std::chrono::microseconds short_time{50};
constexpr int short_packets_per_look = 16;

// At least this much of a chunk is read directly into its place. Smaller rests are copied.
constexpr std::size_t placed_bytes_min = 16_KiB;
// A chunk is usually followed by the next chunk, of which only the head should be copied.
constexpr std::size_t read_behind_place_bytes = 4_KiB;

// For how long a peer that broke the protocol may read why its link ends.
constexpr std::chrono::milliseconds farewell_time{200};

/// Confines running out of memory, and user types that throw unexpectedly, to this link.
template <class Handle>
auto guarded(Handle&& handle) -> decltype(handle()) {
  try {
    return handle();
  } catch (const std::exception& failure) {
    return std::unexpected{
        node_error{node_errc::undecodable, "a packet cannot be handled: " + std::string{exception_text(failure)}}};
  } catch (...) {
    return std::unexpected{node_error{node_errc::undecodable,
                                      "a packet cannot be handled: an object was thrown that is not a std::exception"}};
  }
}

node_error read_failure(std::error_code error) {
  if (error.category() == admission_category())
    return {node_errc::refused, error.message()};
  if (error == std::errc::protocol_error)
    return {node_errc::protocol_violation, "the peer corrupted the ring, or sent unexpected descriptors"};
  return {node_errc::link_down, "the peer has closed the connection: " + error.message()};
}

} // namespace

connection::connection(asio::io_context& io, std::shared_ptr<transport> bytes, std::shared_ptr<link_mutex> mutex)
    : io_(io), mutex_(std::move(mutex)), bytes_(std::move(bytes)), read_buffer_(first_read_buffer_bytes) {}

connection::~connection() = default;

void connection::start(std::shared_ptr<connection_events> events) {
  events_ = std::move(events);
  write([](const link_held&, outbox& out) { out.append(make_preamble()); });
  read_next();
}

/// Drops what waits to be written. The peer takes nothing more, but bytes that it sent earlier may still be unread.
/// Requires: this thread is the writer.
void connection::stop_writing(node_error reason) {
  outbox dropped;
  {
    const auto held = mutex_->lock();
    closing_ = true;
    std::swap(dropped, waiting_);
  }
  unwritten_ += dropped.messages() + writing_.messages();
  writing_.clear();
  close_reason_ = std::move(reason);
  end_later(farewell_time);
}

void connection::end_later(std::chrono::milliseconds patience) {
  drain_timer_ = std::make_unique<io_timer>(io_, patience);
  drain_timer_->async_wait([self = shared_from_this()](std::error_code cancelled) {
    if (!cancelled && !self->ended_)
      self->end(node_error{*self->close_reason_});
  });
}

/// Everything that could be written is written. If closing now could lose it, closes after the peer has closed.
void connection::end_when_read() {
  if (is_lingering_)
    return;
  if (!bytes_->finish_writing()) {
    end(node_error{*close_reason_});
    return;
  }
  is_lingering_ = true;
  end_later(farewell_time);
  if (!is_reading_)
    read_next();
}

void connection::read_next() {
  if (is_lingering_) {
    read_begin_ = read_end_ = 0;
    place_ = {};
  }
  if (read_begin_ > 0) {
    std::memmove(read_buffer_.data(), read_buffer_.data() + read_begin_, read_end_ - read_begin_);
    read_end_ -= std::exchange(read_begin_, 0);
  }
  if (body_bytes_max_ == packet_body_bytes_max && read_buffer_.size() < read_buffer_bytes)
    read_buffer_.resize(read_buffer_bytes);
  is_reading_ = true;
  bytes_->read_some(next_place(),
                    [self = shared_from_this(), keeps = place_.keeps](std::error_code error, std::size_t count) {
                      self->is_reading_ = false;
                      if (self->ended_)
                        return;
                      if (error) {
                        self->end(self->is_lingering_ ? node_error{*self->close_reason_} : read_failure(error));
                        return;
                      }
                      self->bytes_read_.fetch_add(count, std::memory_order_relaxed);
                      self->on_read(count);
                    });
}

/// Where the next bytes are read to.
std::span<std::byte> connection::next_place() {
  if (!place_.rest.empty())
    return place_.rest;
  const auto room = std::span{read_buffer_}.subspan(read_end_);
  return std::exchange(has_filled_place_, false) && read_end_ == 0
             ? room.first(std::min(room.size(), read_behind_place_bytes))
             : room;
}

void connection::on_read(std::size_t count) {
  if (!place_.rest.empty()) {
    place_.rest = place_.rest.subspan(count);
    if (place_.rest.empty()) {
      place_ = {};
      has_filled_place_ = true;
    }
    read_next();
    return;
  }
  read_end_ += count;
  if (is_lingering_)
    read_next();
  else
    go_on_reading();
}

/// Handles one turn of what has been read, so that its messages are handled while they are in the caches.
void connection::go_on_reading() {
  if (is_lingering_) // It may have begun after this turn was postponed.
    return;
  auto result = parse();
  if (result == parsed::turn_over) {
    io_batch::current()->read_on_later(shared_from_this());
    return;
  }
  if (events_)
    events_->on_all_handled();
  if (!ended_ && result == parsed::more_bytes_wanted)
    read_next();
}

void connection::move_input() {
  read_end_ = read_begin_;
  bytes_->rings()->move_input();
}

void connection::read_on() {
  if (!ended_)
    go_on_reading();
}

connection::parsed connection::parse() {
  if (!greeted_) {
    if (read_end_ - read_begin_ < preamble_bytes)
      return parsed::more_bytes_wanted;
    if (auto greeting = handle_preamble(); !greeting) {
      if (greeting.error().code() == node_errc::version_mismatch)
        close_for(greeting.error()); // This end's preamble, which tells the peer both versions, may still wait.
      else
        end(greeting.error());
      return parsed::closing;
    }
  }
  const auto begin = std::chrono::steady_clock::now();
  auto look_at = packets_per_look; // The packet before which the clock is read next.
  for (int packets = 0; read_end_ - read_begin_ >= packet_head_bytes; ++packets) {
    if (packets == packets_per_turn)
      return parsed::turn_over;
    if (packets >= look_at) {
      const auto taken = std::chrono::steady_clock::now() - begin;
      if (taken >= turn_time)
        return parsed::turn_over;
      look_at = packets + (taken < short_time ? short_packets_per_look : packets_per_look);
    }
    const auto run = guarded_on_run(std::min(look_at, packets_per_turn) - packets);
    if (!run) {
      if (!ended_)
        close_for(run.error());
      return parsed::closing;
    }
    if (run->packets > 0) {
      read_begin_ += run->size_bytes;
      packets += run->packets - 1;
      continue;
    }
    auto head = read_packet_head(
        std::span<const std::byte, packet_head_bytes>{read_buffer_.data() + read_begin_, packet_head_bytes});
    if (head.body_bytes > body_bytes_max_ || head.reserved != 0) {
      const node_error reason{
          node_errc::protocol_violation,
          head.reserved != 0 ? "a packet's reserved bytes are " + grouped(head.reserved) + ", not zero"
                             : "a packet of " + grouped(head.body_bytes) + " bytes, limit " + grouped(body_bytes_max_)};
      events_->on_bad_packet(reason);
      close(reason, farewell_time);
      return parsed::closing;
    }
    if (head.body_bytes >= larger_packet_bytes)
      look_at = packets + 1;
    auto packet_bytes = packet_head_bytes + head.body_bytes;
    if (read_end_ - read_begin_ < packet_bytes) {
      const auto placed = reads_into_place(head);
      if (!placed) {
        if (!ended_)
          close_for(placed.error());
        return parsed::closing;
      }
      if (*placed)
        return parsed::more_bytes_wanted;
      if (read_buffer_.size() < packet_bytes)
        read_buffer_.resize(2 * packet_bytes);
      return parsed::more_bytes_wanted;
    }
    auto body = bytes_view{read_buffer_}.subspan(read_begin_ + packet_head_bytes, head.body_bytes);
    read_begin_ += packet_bytes;
    auto handled = guarded_on_packet(head, body);
    if (ended_)
      return parsed::closing;
    if (!handled) {
      close_for(handled.error());
      return parsed::closing;
    }
  }
  return parsed::more_bytes_wanted;
}

/// Whether the packet at the beginning of the buffer is a chunk whose rest is read directly into its place.
std::expected<bool, node_error> connection::reads_into_place(const packet_head& head) {
  const auto packet_bytes = packet_head_bytes + head.body_bytes;
  if (head.kind != packet_kind::chunk || packet_bytes - (read_end_ - read_begin_) < placed_bytes_min)
    return false;
  const auto begin = bytes_view{read_buffer_}.subspan(read_begin_, read_end_ - read_begin_).subspan(packet_head_bytes);
  auto place = guarded([&] { return events_->on_chunk_begin(head, begin); });
  if (!place)
    return std::unexpected{std::move(place).error()};
  if (place->rest.empty())
    return false;
  place_ = *std::move(place);
  read_begin_ = read_end_;
  return true;
}

void connection::close_for(const node_error& failure) {
  const auto peer_waits = failure.code() != node_errc::link_down;
  close(failure, peer_waits ? farewell_time : std::chrono::milliseconds{0});
}

std::expected<void, node_error> connection::guarded_on_packet(const packet_head& head, bytes_view body) {
  return guarded([&] { return events_->on_packet(head, body); });
}

std::expected<handled_packets, node_error> connection::guarded_on_run(int packets_max) {
  const auto bytes = bytes_view{read_buffer_}.subspan(read_begin_, read_end_ - read_begin_);
  return guarded([&] { return events_->on_run(bytes, packets_max); });
}

std::expected<void, node_error> connection::handle_preamble() {
  auto version = read_preamble(std::span<const std::byte, preamble_bytes>{read_buffer_.data(), preamble_bytes});
  if (!version)
    return std::unexpected{node_error{node_errc::protocol_violation, "the peer does not speak Troupe's link protocol"}};
  if (*version != protocol_version)
    return std::unexpected{node_error{node_errc::version_mismatch, "the peer speaks version " + std::to_string(*version)
                                                                       + " of the link protocol, this node version "
                                                                       + std::to_string(protocol_version)
                                                                       + ": upgrade the older of the two"}};
  read_begin_ += preamble_bytes;
  greeted_ = true;
  return {};
}

void connection::close(node_error reason, std::chrono::milliseconds patience) {
  {
    const auto held = mutex_->lock();
    if (std::exchange(closing_, true))
      return;
  }
  post_to(io_, [self = shared_from_this(), reason = std::move(reason), patience]() mutable {
    if (self->ended_)
      return;
    self->close_reason_ = std::move(reason);
    bool idle;
    {
      const auto held = self->mutex_->lock();
      idle = self->writer_ == writer::nobody && self->waiting_.empty() && !self->refills_;
      if (!idle && self->writer_ == writer::nobody)
        self->hand_to_io_thread(held);
    }
    if (idle)
      self->end_when_read();
    else
      self->end_later(patience);
  });
}

void connection::end(const node_error& reason) {
  if (std::exchange(ended_, true))
    return;
  outbox dropped; // Destroyed without the lock: frames may release resources.
  {
    const auto held = mutex_->lock();
    closing_ = true;
    std::swap(dropped, waiting_);
    unwritten_ += dropped.messages() + (writer_ == writer::io_thread ? writing_.messages() : 0);
  }
  std::shared_ptr<transport> bytes;
  {
    std::lock_guard guard{transport_mutex_}; // No caller writes any more.
    bytes = std::exchange(bytes_, nullptr);  // *this may outlive the I/O context, but the socket must not.
  }
  bytes->close();
  drain_timer_.reset();
  auto events = std::exchange(events_, nullptr);
  if (events)
    events->on_closed(reason, unwritten_);
}

} // namespace troupe::internal
