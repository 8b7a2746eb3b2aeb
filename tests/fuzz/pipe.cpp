#include "pipe.hpp"

#include <algorithm>
#include <utility>

#include <asio/error.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>

#include "decoding.hpp"

namespace fuzz {

using namespace troupe::internal;

void pipe::read_some(std::span<std::byte> into, std::function<void(std::error_code, std::size_t)> done) {
  std::lock_guard guard{mutex_};
  expect(!read_done_, "two reads at a time");
  into_ = into;
  read_done_ = std::move(done);
  hand_over();
}

void pipe::write(std::span<const bytes_view> pieces, std::function<void(std::error_code)> done) {
  std::lock_guard guard{mutex_};
  expect(!write_done_, "two writes at a time");
  append(pieces);
  if (stalled_ && !closed_)
    write_done_ = std::move(done);
  else
    asio::post(io_, [done = std::move(done)] { done({}); });
}

std::expected<std::size_t, std::error_code> pipe::write_now(std::span<const bytes_view> pieces) {
  std::lock_guard guard{mutex_};
  if (stalled_)
    return 0;
  const auto before = written_.size();
  append(pieces);
  return written_.size() - before;
}

void pipe::close() {
  std::lock_guard guard{mutex_};
  closed_ = true;
  if (read_done_)
    asio::post(io_, [done = std::exchange(read_done_, nullptr)] { done(asio::error::operation_aborted, 0); });
  if (write_done_)
    asio::post(io_, [done = std::exchange(write_done_, nullptr)] { done(asio::error::operation_aborted); });
  changed_.notify_all();
}

void pipe::set_piece_bytes(std::size_t most) {
  std::lock_guard guard{mutex_};
  piece_bytes_ = std::max<std::size_t>(most, 1);
}

void pipe::feed(bytes_view bytes) {
  std::lock_guard guard{mutex_};
  if (closed_ || ended_)
    return;
  fed_.insert(fed_.end(), bytes.begin(), bytes.end());
  hand_over();
}

void pipe::end() {
  std::lock_guard guard{mutex_};
  ended_ = true;
  hand_over();
}

void pipe::set_stalled(bool stalled) {
  std::lock_guard guard{mutex_};
  stalled_ = stalled;
  if (!stalled && write_done_)
    asio::post(io_, [done = std::exchange(write_done_, nullptr)] { done({}); });
}

void pipe::wait_until_handled() {
  std::unique_lock guard{mutex_};
  const auto done = changed_.wait_for(
      guard, patience, [this] { return closed_ || stalled_ || ended_ || (read_done_ && fed_begin_ == fed_.size()); });
  expect(done, "the node does not read on");
}

bool pipe::wait_until_closed(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  std::unique_lock guard{mutex_};
  while (!closed_) {
    if (condition) {
      guard.unlock();
      if (condition())
        return true;
      guard.lock();
    }
    if (!changed_.wait_until(guard, deadline, [&] { return closed_ || (condition && !written_.empty()); }))
      return false;
  }
  return true;
}

bool pipe::is_closed() const {
  std::lock_guard guard{mutex_};
  return closed_;
}

byte_vector pipe::take_written() {
  std::lock_guard guard{mutex_};
  return std::exchange(written_, {});
}

/// Requires: the mutex is held.
void pipe::hand_over() {
  if (!read_done_) {
    changed_.notify_all();
    return;
  }
  const auto count = std::min({into_.size(), fed_.size() - fed_begin_, piece_bytes_});
  if (count == 0 && !ended_) {
    changed_.notify_all(); // All fed bytes have been handled.
    return;
  }
  const auto from = fed_.begin() + static_cast<std::ptrdiff_t>(fed_begin_);
  std::copy(from, from + static_cast<std::ptrdiff_t>(count), into_.begin());
  fed_begin_ += count;
  if (fed_begin_ == fed_.size()) {
    fed_.clear();
    fed_begin_ = 0;
  }
  const auto error = count == 0 ? std::error_code{asio::error::eof} : std::error_code{};
  asio::post(io_, [done = std::exchange(read_done_, nullptr), error, count] { done(error, count); });
}

/// Requires: the mutex is held.
void pipe::append(std::span<const bytes_view> pieces) {
  for (const auto piece : pieces)
    written_.insert(written_.end(), piece.begin(), piece.end());
  changed_.notify_all();
}

} // namespace fuzz
