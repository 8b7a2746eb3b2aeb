// One direction of a link's bytes, through memory that two processes share. Pure: no system calls. The type of the
// shared words is a parameter, so that a test can step through every order of accesses.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <expected>
#include <span>

#include <troupe/framework/internal/wire/packet.hpp>

namespace troupe::internal {

/// A number in shared memory. Accesses are sequentially consistent unless their name says otherwise, because an end
/// that goes to sleep must not miss a concurrent store of the other end.
class shared_word {
public:
  [[nodiscard]] std::uint64_t load() const noexcept { return value_.load(std::memory_order_seq_cst); }
  [[nodiscard]] std::uint64_t load_acquired() const noexcept { return value_.load(std::memory_order_acquire); }
  void store(std::uint64_t value) noexcept { value_.store(value, std::memory_order_seq_cst); }
  [[nodiscard]] std::uint64_t exchange(std::uint64_t value) noexcept {
    return value_.exchange(value, std::memory_order_seq_cst);
  }

private:
  std::atomic<std::uint64_t> value_{0};
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free); // Otherwise its lock would belong to one process.
};

/// The words that the two ends of a ring share. Counts of bytes only grow. Their positions are the counts modulo the
/// ring's size. Each word has its own pair of cache lines, because processors fetch lines in pairs.
template <class Word>
struct ring_words {
  alignas(128) Word written;       // Bytes that the writer has put in.
  alignas(128) Word read;          // Bytes that the reader has taken out.
  alignas(128) Word reader_sleeps; // Not zero: wake the reader when there are bytes.
  alignas(128) Word writer_waits;  // Not zero: wake the writer when there is room.
};

/// The other end stored an impossible count.
struct ring_broken {};

/// The writing end. Threads: one at a time.
template <class Word>
class ring_writer {
public:
  /// The size of `data` is a power of two. Both arguments outlive this. Requires: the ring was not used before.
  ring_writer(ring_words<Word>& shared, std::span<std::byte> data) : shared_(shared), data_(data) {}

  /// Copies bytes as far as there is room, and returns their number. The reader sees them after publish().
  [[nodiscard]] std::expected<std::size_t, ring_broken> put(bytes_view bytes) {
    if (room() < bytes.size())
      if (auto looked = look(); !looked)
        return std::unexpected{looked.error()};
    const auto count = std::min(bytes.size(), room());
    const auto at = static_cast<std::size_t>(written_) & (data_.size() - 1);
    const auto until_end = std::min(count, data_.size() - at);
    if (count > 0) {
      std::memcpy(data_.data() + at, bytes.data(), until_end);
      std::memcpy(data_.data(), bytes.data() + until_end, count - until_end);
    }
    written_ += count;
    return count;
  }

  /// Shows the reader the bytes that were put so far. Returns true if the caller has to wake the reader.
  [[nodiscard]] bool publish() {
    shared_.written.store(written_);
    return shared_.reader_sleeps.load() != 0 && shared_.reader_sleeps.exchange(0) != 0;
  }

  /// Whether the reader has taken all published bytes, and so has nothing to do.
  [[nodiscard]] bool reader_has_all() const { return shared_.read.load_acquired() == written_; }

  /// Returns true if there is no room. Then the reader wakes the caller once half of the ring is free.
  [[nodiscard]] std::expected<bool, ring_broken> wait_for_room() {
    shared_.writer_waits.store(1);
    if (auto looked = look(); !looked)
      return std::unexpected{looked.error()};
    if (room() == 0)
      return true;
    shared_.writer_waits.store(0);
    return false;
  }

private:
  [[nodiscard]] std::size_t room() const noexcept { return data_.size() - static_cast<std::size_t>(written_ - read_); }

  /// Loads the reader's count once, and accepts it only if it is possible.
  [[nodiscard]] std::expected<void, ring_broken> look() {
    const auto read = shared_.read.load();
    if (read - read_ > written_ - read_)
      return std::unexpected{ring_broken{}};
    read_ = read;
    return {};
  }

  ring_words<Word>& shared_;
  const std::span<std::byte> data_;
  std::uint64_t written_ = 0;
  std::uint64_t read_ = 0; // As last loaded.
};

/// The reading end. Threads: one at a time.
template <class Word>
class ring_reader {
public:
  /// Like the writer's.
  ring_reader(ring_words<Word>& shared, std::span<const std::byte> data) : shared_(shared), data_(data) {}

  /// Copies bytes out of the ring, as far as `into` has room, and returns their number.
  [[nodiscard]] std::expected<std::size_t, ring_broken> take(std::span<std::byte> into) {
    if (auto looked = look(shared_.written.load_acquired()); !looked)
      return std::unexpected{looked.error()};
    const auto count = std::min(into.size(), there());
    if (count == 0)
      return 0;
    const auto at = static_cast<std::size_t>(read_) & (data_.size() - 1);
    const auto until_end = std::min(count, data_.size() - at);
    std::memcpy(into.data(), data_.data() + at, until_end);
    std::memcpy(into.data() + until_end, data_.data(), count - until_end);
    read_ += count;
    shared_.read.store(read_);
    return count;
  }

  /// After take(): returns true if the caller has to wake the writer. A writer is woken only once half of the ring is
  /// free. Otherwise it would be woken as often as the reader takes bytes.
  [[nodiscard]] bool writer_is_to_be_woken() {
    return there() <= data_.size() / 2 && shared_.writer_waits.load() != 0 && shared_.writer_waits.exchange(0) != 0;
  }

  /// Returns true if the ring is empty. Then the writer wakes the caller when bytes arrive.
  [[nodiscard]] std::expected<bool, ring_broken> sleep() {
    shared_.reader_sleeps.store(1);
    if (auto looked = look(shared_.written.load()); !looked)
      return std::unexpected{looked.error()};
    if (there() == 0)
      return true;
    shared_.reader_sleeps.store(0);
    return false;
  }
  /// Ends sleep(). The reader checks the ring by itself again and need not be woken.
  void awake() {
    if (shared_.reader_sleeps.load() != 0)
      shared_.reader_sleeps.store(0);
  }

private:
  [[nodiscard]] std::size_t there() const noexcept { return static_cast<std::size_t>(written_ - read_); }

  /// Accepts the writer's count only if it is possible.
  [[nodiscard]] std::expected<void, ring_broken> look(std::uint64_t written) {
    if (written - written_ > data_.size() - there())
      return std::unexpected{ring_broken{}};
    written_ = written;
    return {};
  }

  ring_words<Word>& shared_;
  const std::span<const std::byte> data_;
  std::uint64_t read_ = 0;
  std::uint64_t written_ = 0; // As last loaded.
};

} // namespace troupe::internal
