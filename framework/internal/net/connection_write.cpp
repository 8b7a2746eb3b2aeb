// The writing half of a connection: which thread writes, and when.
#include <algorithm>
#include <utility>

#include <asio/io_context.hpp>
#include <asio/post.hpp>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/net/connection.hpp>
#include <troupe/framework/internal/net/io_batch.hpp>
#include <troupe/framework/internal/net/ticker.hpp>

namespace troupe::internal {

namespace {

using clock = std::chrono::steady_clock;

// A thread that has appended this much writes it, because larger writes cost no less per byte.
constexpr std::size_t batch_bytes = 64_KiB;

// The same bound for a ring. A write to a ring is no system call; it only takes cache lines from the peer.
constexpr std::size_t ring_batch_bytes = 1_KiB;

// After this many idle ticks ticking ends, until the next burst.
constexpr int idle_ticks_max = 20;

// The bytes offered at a time to a transport that does not take everything at once.
constexpr std::size_t slice_bytes = 64_KiB;

// After this many consecutive writes, or bytes, the I/O thread reads again. Chunks of large frames are of this size.
constexpr int writes_in_a_row_max = 16;
constexpr std::size_t bytes_in_a_row_max = 256_KiB;

} // namespace

void connection::flush(link_held& held) {
  if (writer_ != writer::nobody || waiting_.empty()) {
    held.unlock(); // The current writer checks again before it stops.
    return;
  }
  if (io_batch::current() != nullptr) {
    flush_soon(held);
    held.unlock();
    return;
  }
  if (writes_to_ring(held)) {
    if (waiting_.size_bytes() >= ring_batch_bytes || ring_->peer_has_all()) {
      put_into_ring(held);
    } else {
      wait_for_more(held);
      held.unlock();
    }
    return;
  }
  if (waiting_.size_bytes() >= batch_bytes) {
    write_by_caller(held);
    return;
  }
  if (!deferred_ && pause_.is_over(clock::now(), bytes_read())) {
    write_by_caller(held);
    return;
  }
  wait_for_more(held);
  held.unlock();
}

void connection::wait_for_more(const link_held& held) {
  if (!std::exchange(deferred_, true))
    start_ticking(held);
}

/// Whether the waiting bytes can be put into the ring as they are. Requires: no writer.
bool connection::writes_to_ring(const link_held&) {
  if (is_moving_ && bytes_->rings()->writes_to_ring()) {
    ring_ = bytes_->rings();
    is_moving_ = false;
  }
  return ring_ != nullptr && !closing_ && waiting_.is_copied();
}

/// Writes under the lock, because this makes no system call and gathers nothing for later. Requires: no writer.
/// Releases the lock.
void connection::put_into_ring(link_held& held) {
  const auto put = ring_->put(waiting_.copied());
  const auto is_whole = put && put->bytes == waiting_.size_bytes();
  if (put)
    bytes_written_.fetch_add(put->bytes, std::memory_order_relaxed);
  if (is_whole) {
    waiting_.clear();
    deferred_ = false;
    if (refills_)
      hand_to_io_thread(held);
  } else {
    writer_ = writer::io_thread;
    take_waiting(held);
  }
  held.unlock();
  if (put && put->has_to_wake)
    wake_peer();
  if (is_whole)
    return;
  hand_rest_to_io_thread(put ? std::expected<std::size_t, std::error_code>{put->bytes} : std::unexpected{put.error()});
}

void connection::wake_peer() {
  std::lock_guard guard{transport_mutex_};
  if (bytes_)
    bytes_->rings()->wake_peer();
}

void connection::flush_soon(const link_held& held) {
  if (writer_ != writer::nobody || waiting_.empty())
    return;
  if (auto* batch = io_batch::current(); batch == nullptr) {
    hand_to_io_thread(held);
  } else if (!batched_) {
    batched_ = true;
    batch->add(shared_from_this());
  }
}

/// May release the lock.
void connection::write_waiting(link_held& held) {
  if (writer_ != writer::nobody || waiting_.empty())
    return;
  if (writes_to_ring(held))
    put_into_ring(held);
  else
    write_by_caller(held);
}

void connection::flush_batch() {
  auto held = mutex_->lock();
  batched_ = false;
  write_waiting(held);
}

void connection::write_refills(const link_held& held) {
  refills_ = true;
  if (writer_ == writer::nobody && !closing_)
    hand_to_io_thread(held);
}

/// Requires: no writer.
void connection::hand_to_io_thread(const link_held&) {
  writer_ = writer::io_thread;
  asio::post(io_, [self = shared_from_this()] { self->write_by_io_thread(); });
}

/// Requires: this thread is the writer.
void connection::take_waiting(const link_held&) {
  std::swap(waiting_, writing_);
  waiting_.tap(writing_.tapped_by());
  for (const auto& each : marks_) {
    if (each.is_descriptor)
      bytes_->rings()->send_descriptor_at(each.position);
    else
      bytes_->rings()->move_output_at(each.position);
    is_moving_ = !each.is_descriptor;
  }
  marks_.clear();
  writing_bytes_.store(writing_.size_bytes(), std::memory_order_relaxed);
  deferred_ = false;
}

/// Requires: this thread is the writer and does not hold the lock.
std::expected<std::size_t, std::error_code> connection::write_now() {
  writing_.gather(pieces_);
  std::lock_guard guard{transport_mutex_};
  if (!bytes_)
    return std::unexpected{std::make_error_code(std::errc::not_connected)};
  auto written = bytes_->write_now(pieces_);
  if (written)
    bytes_written_.fetch_add(*written, std::memory_order_relaxed);
  return written;
}

/// Requires: no writer. Releases the lock.
void connection::write_by_caller(link_held& held) {
  writer_ = writer::caller;
  take_waiting(held);
  held.unlock();
  auto written = write_now();
  if (written && *written == writing_.size_bytes()) {
    writing_.clear(); // Without the lock: frames may release resources.
    held.lock();
    pause_.begin(clock::now(), bytes_read());
    writing_bytes_.store(0, std::memory_order_relaxed);
    writer_ = writer::nobody;
    if (refills_ || closing_) {
      hand_to_io_thread(held);
    } else if (!waiting_.empty()) {
      deferred_ = true;
      start_ticking(held);
    }
    held.unlock();
    return;
  }
  held.lock();
  writer_ = writer::io_thread;
  held.unlock();
  hand_rest_to_io_thread(written);
}

/// Passes on the rest of writing_. `written` is the part that is already written. Requires: the I/O thread is the
/// writer.
void connection::hand_rest_to_io_thread(std::expected<std::size_t, std::error_code> written) {
  asio::post(io_, [self = shared_from_this(), written] {
    if (written)
      self->write_rest(*written);
    else if (self->ended_)
      self->writing_.clear();
    else
      self->stop_writing({node_errc::link_down, "cannot write to the peer: " + written.error().message()});
  });
}

// -- on the I/O thread

void connection::start_ticking(const link_held&) {
  if (std::exchange(ticking_, true))
    return;
  asio::post(io_, [self = shared_from_this()] {
    self->idle_ticks_ = 0;
    ticker::of(self->io_).add(self);
  });
}

tick_result connection::tick() {
  if (ended_)
    return tick_result::over;
  auto held = mutex_->lock();
  const auto is_useful = std::exchange(deferred_, false);
  idle_ticks_ = is_useful ? 0 : idle_ticks_ + 1;
  ticking_ = idle_ticks_ < idle_ticks_max;
  const auto result = !ticking_ ? tick_result::over : is_useful ? tick_result::useful : tick_result::idle;
  write_waiting(held);
  return result;
}

void connection::write_by_io_thread() {
  auto begin = bytes_written();
  for (int writes = 0; writes < writes_in_a_row_max && bytes_written() - begin < bytes_in_a_row_max; ++writes)
    if (!write_once())
      return;
  asio::post(io_, [self = shared_from_this()] { self->write_by_io_thread(); });
}

/// Returns false if nothing is left, if the transport has to be waited for, or if the connection has ended.
bool connection::write_once() {
  if (ended_)
    return false;
  auto held = mutex_->lock();
  take_waiting(held);
  if (refills_)
    refills_ = events_->refill(held, writing_);
  if (writing_.empty()) {
    pause_.begin(clock::now(), bytes_read());
    writer_ = writer::nobody;
    held.unlock();
    if (close_reason_)
      end_when_read();
    return false;
  }
  held.unlock();
  auto written = write_now();
  if (!written) {
    stop_writing({node_errc::link_down, "cannot write to the peer: " + written.error().message()});
    return false;
  }
  if (*written < writing_.size_bytes()) {
    write_rest(*written);
    return false;
  }
  writing_.clear();
  return true;
}

/// Waits until the transport has taken everything after the first `written` bytes, slice by slice, so that progress on
/// a slow network is visible.
void connection::write_rest(std::size_t written) {
  if (ended_) {
    writing_.clear();
    return;
  }
  writing_bytes_.store(writing_.size_bytes() - written, std::memory_order_relaxed);
  auto bytes = std::min(slice_bytes, writing_.size_bytes() - written);
  gather_behind(written, bytes);
  stalled_since_.store(clock::now().time_since_epoch().count(), std::memory_order_relaxed);
  bytes_->write(pieces_, [self = shared_from_this(), written, bytes](std::error_code error) {
    self->stalled_since_.store(0, std::memory_order_relaxed);
    if (self->ended_) {
      // Frames may hold the actors that hold this link: release them however the writing ended.
      self->writing_.clear();
      return;
    }
    if (error) {
      self->stop_writing({node_errc::link_down, "cannot write to the peer: " + error.message()});
      return;
    }
    self->bytes_written_.fetch_add(bytes, std::memory_order_relaxed);
    if (self->bytes_->has_waited())
      self->slices_taken_.fetch_add(1, std::memory_order_relaxed);
    if (written + bytes < self->writing_.size_bytes()) {
      self->write_rest(written + bytes);
      return;
    }
    self->writing_.clear();
    self->write_by_io_thread();
  });
}

/// Fills pieces_ with at most `bytes_max` bytes to write after the first `written` bytes.
void connection::gather_behind(std::size_t written, std::size_t bytes_max) {
  writing_.gather(pieces_);
  std::erase_if(pieces_, [&](bytes_view& piece) {
    auto skipped = std::min(written, piece.size());
    written -= skipped;
    piece = piece.subspan(skipped);
    piece = piece.first(std::min(bytes_max, piece.size()));
    bytes_max -= piece.size();
    return piece.empty();
  });
}

clock::duration connection::stalled() const {
  auto since = stalled_since_.load(std::memory_order_relaxed);
  return since == 0 ? clock::duration::zero() : clock::now().time_since_epoch() - clock::duration{since};
}

} // namespace troupe::internal
