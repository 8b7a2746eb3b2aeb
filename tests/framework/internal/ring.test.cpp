// One direction of bytes through shared memory: the right bytes arrive, and no end sleeps while there is work.
#include <troupe/framework/internal/net/ring.hpp>

#include <array>
#include <deque>
#include <optional>
#include <random>
#include <ranges>
#include <tuple>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "interleavings.hpp"

namespace troupe::internal {
namespace {

using tests::interleavings;

byte_vector numbered(std::size_t from, std::size_t size) {
  byte_vector bytes(size);
  for (std::size_t i = 0; i < size; ++i)
    bytes[i] = static_cast<std::byte>((from + i) * 7 + (from + i) / 256);
  return bytes;
}

/// Both ends in one thread.
class ring : public testing::Test {
protected:
  static constexpr std::size_t size = 64;
  std::array<std::byte, size> data{};
  ring_words<shared_word> words;
  ring_writer<shared_word> writer{words, data};
  ring_reader<shared_word> reader{words, data};
  std::array<std::byte, 1000> into{};
};

TEST_F(ring, gives_out_what_was_put_in_however_it_is_cut) {
  std::mt19937 random{42};
  byte_vector put, taken;
  for (int i = 0; i < 10'000; ++i) {
    const auto bytes = numbered(put.size(), random() % 50);
    const auto count = writer.put(bytes);
    ASSERT_TRUE(count);
    put.insert(put.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(*count));
    static_cast<void>(writer.publish());
    const auto got = reader.take(std::span{into}.first(random() % 50));
    ASSERT_TRUE(got);
    taken.insert(taken.end(), into.begin(), into.begin() + static_cast<std::ptrdiff_t>(*got));
  }
  const auto rest = reader.take(into);
  ASSERT_TRUE(rest);
  taken.insert(taken.end(), into.begin(), into.begin() + static_cast<std::ptrdiff_t>(*rest));
  EXPECT_EQ(taken, put);
}

TEST_F(ring, shows_nothing_before_it_is_published) {
  EXPECT_EQ(writer.put(numbered(0, 10)), 10u);
  EXPECT_EQ(reader.take(into), 0u);
  EXPECT_FALSE(writer.publish()); // The reader is not asleep.
  EXPECT_EQ(reader.take(into), 10u);
}

TEST_F(ring, takes_no_more_than_its_size) {
  EXPECT_EQ(writer.put(numbered(0, 100)), size);
  EXPECT_EQ(writer.put(numbered(0, 1)), 0u);
  EXPECT_EQ(writer.wait_for_room(), true);
}

TEST_F(ring, has_a_reader_woken_once) {
  EXPECT_EQ(reader.sleep(), true);
  EXPECT_EQ(writer.put(numbered(0, 1)), 1u);
  EXPECT_TRUE(writer.publish());
  EXPECT_EQ(writer.put(numbered(0, 1)), 1u);
  EXPECT_FALSE(writer.publish());
}

TEST_F(ring, lets_no_reader_sleep_beside_bytes) {
  EXPECT_EQ(writer.put(numbered(0, 1)), 1u);
  static_cast<void>(writer.publish());
  EXPECT_EQ(reader.sleep(), false);
  EXPECT_EQ(writer.put(numbered(0, 1)), 1u);
  EXPECT_FALSE(writer.publish());
}

TEST_F(ring, has_a_writer_woken_once_half_of_it_is_free) {
  EXPECT_EQ(writer.put(numbered(0, size)), size);
  static_cast<void>(writer.publish());
  EXPECT_EQ(writer.wait_for_room(), true);
  EXPECT_EQ(reader.take(std::span{into}.first(size / 2 - 1)), size / 2 - 1);
  EXPECT_FALSE(reader.writer_is_to_be_woken());
  EXPECT_EQ(reader.take(std::span{into}.first(1)), 1u);
  EXPECT_TRUE(reader.writer_is_to_be_woken());
  EXPECT_FALSE(reader.writer_is_to_be_woken());
}

TEST_F(ring, lets_no_writer_wait_beside_room) {
  EXPECT_EQ(writer.put(numbered(0, size)), size);
  static_cast<void>(writer.publish());
  EXPECT_EQ(reader.take(std::span{into}.first(1)), 1u);
  EXPECT_EQ(writer.wait_for_room(), false);
  EXPECT_FALSE(reader.writer_is_to_be_woken());
}

TEST_F(ring, believes_no_count_that_cannot_be) {
  for (const std::uint64_t impossible : {std::uint64_t{size + 1}, UINT64_MAX, std::uint64_t{1} << 63}) {
    words.written.store(impossible);
    EXPECT_FALSE(reader.take(into));
    EXPECT_FALSE(reader.sleep());
  }
  for (const std::uint64_t impossible : {std::uint64_t{1}, UINT64_MAX}) {
    words.read.store(impossible);
    EXPECT_FALSE(writer.put(numbered(0, 2 * size)));
    EXPECT_FALSE(writer.wait_for_room());
  }
}

TEST_F(ring, believes_no_count_that_falls) {
  EXPECT_EQ(writer.put(numbered(0, 20)), 20u);
  static_cast<void>(writer.publish());
  EXPECT_EQ(reader.take(std::span{into}.first(10)), 10u);
  words.written.store(19);
  EXPECT_FALSE(reader.take(into));
  EXPECT_EQ(writer.put(numbered(0, size)), size - 10);
  words.read.store(9);
  EXPECT_FALSE(writer.put(numbered(0, 1)));
}

// -- every order of the two ends' steps

/// A word, each access to which is one step.
class stepped_word {
public:
  [[nodiscard]] std::uint64_t load() const {
    interleavings::yield();
    return value_;
  }
  [[nodiscard]] std::uint64_t load_acquired() const { return load(); }
  void store(std::uint64_t value) {
    interleavings::yield();
    value_ = value;
  }
  [[nodiscard]] std::uint64_t exchange(std::uint64_t value) {
    interleavings::yield();
    return std::exchange(value_, value);
  }

private:
  std::uint64_t value_ = 0;
};

/// A word whose stores reach the other end later, as without sequential consistency. Each end has a queue of such
/// stores.
class late_word {
public:
  struct late_store {
    late_word* into;
    std::uint64_t value;
  };
  static inline std::array<std::deque<late_store>, 2> queues;

  static void let_one_arrive(std::size_t end) {
    queues[end].front().into->value_ = queues[end].front().value;
    queues[end].pop_front();
  }

  [[nodiscard]] std::uint64_t load() const {
    interleavings::yield();
    for (auto& queue = queues[interleavings::running()]; const auto& each : queue | std::views::reverse)
      if (each.into == this)
        return each.value;
    return value_;
  }
  [[nodiscard]] std::uint64_t load_acquired() const { return load(); }
  void store(std::uint64_t value) {
    interleavings::yield();
    queues[interleavings::running()].push_back({this, value});
  }
  [[nodiscard]] std::uint64_t exchange(std::uint64_t value) {
    interleavings::yield();
    while (!queues[interleavings::running()].empty())
      let_one_arrive(interleavings::running());
    return std::exchange(value_, value);
  }

private:
  std::uint64_t value_ = 0;
};

/// A word whose stores an acquiring load may see later than the sequentially consistent accesses do.
class acquired_late_word {
public:
  static inline std::deque<acquired_late_word*> hidden; // Their last values are not yet shown to acquiring loads.

  static void show_one() {
    hidden.front()->shown_ = hidden.front()->value_;
    hidden.pop_front();
  }

  [[nodiscard]] std::uint64_t load() const {
    interleavings::yield();
    return shown_ = value_; // An end that has seen a value sees no earlier value.
  }
  [[nodiscard]] std::uint64_t load_acquired() const {
    interleavings::yield();
    return shown_;
  }
  void store(std::uint64_t value) {
    interleavings::yield();
    value_ = value;
    hidden.push_back(this);
  }
  [[nodiscard]] std::uint64_t exchange(std::uint64_t value) {
    interleavings::yield();
    hidden.push_back(this);
    return std::exchange(value_, value);
  }

private:
  std::uint64_t value_ = 0;
  mutable std::uint64_t shown_ = 0;
};

/// A writer and a reader that behave like a transport, and wake each other with bytes on a socket.
template <class Word>
class sleepers {
public:
  struct plan {
    std::size_t ring_bytes = 0;
    std::vector<std::size_t> writes; // Sizes in bytes.
    std::size_t read_max = 0;
  };
  explicit sleepers(plan what) : plan_(std::move(what)) {
    for (const auto each : plan_.writes)
      total_ += each;
  }

  interleavings::outcome explore(std::size_t preemptions_max) {
    interleavings orders{[this] { begin(); }};
    orders.add([this] { write_all(); });
    orders.add([this] { read_all(); });
    if constexpr (std::is_same_v<Word, late_word>)
      for (const std::size_t end : {0u, 1u})
        orders.add_background(
            [end] {
              for (;;) {
                late_word::let_one_arrive(end);
                interleavings::yield();
              }
            },
            [end] { return !late_word::queues[end].empty(); });
    if constexpr (std::is_same_v<Word, acquired_late_word>)
      orders.add_background(
          [] {
            for (;;) {
              acquired_late_word::show_one();
              interleavings::yield();
            }
          },
          [] { return !acquired_late_word::hidden.empty(); });
    const auto result = orders.explore(preemptions_max);
    EXPECT_EQ(wrong_, 0u);
    return result;
  }

private:
  void begin() {
    late_word::queues = {};
    acquired_late_word::hidden.clear();
    words_.emplace();
    data_.assign(plan_.ring_bytes, std::byte{0});
    writer_.emplace(*words_, data_);
    reader_.emplace(*words_, data_);
    wakes_ = {};
    taken_.clear();
  }

  void write_all() {
    std::size_t begin = 0;
    for (const auto size : plan_.writes) {
      const auto bytes = numbered(begin, size);
      begin += size;
      auto rest = bytes_view{bytes};
      while (!rest.empty()) {
        const auto count = writer_->put(rest);
        rest = rest.subspan(*count);
        if (writer_->publish())
          ++wakes_[1];
        if (*count == 0 && *writer_->wait_for_room())
          wait_for_wake(0);
      }
    }
  }

  void read_all() {
    std::array<std::byte, 16> into;
    while (taken_.size() < total_) {
      const auto count = reader_->take(std::span{into}.first(plan_.read_max));
      taken_.insert(taken_.end(), into.begin(), into.begin() + static_cast<std::ptrdiff_t>(*count));
      if (*count > 0 && reader_->writer_is_to_be_woken())
        ++wakes_[0];
      if (*count == 0 && *reader_->sleep()) {
        wait_for_wake(1);
        reader_->awake();
      }
    }
    wrong_ += taken_ == numbered(0, total_) ? 0 : 1;
  }

  void wait_for_wake(std::size_t end) {
    interleavings::wait_until([this, end] { return wakes_[end] > 0; });
    wakes_[end] = 0;
  }

  const plan plan_;
  std::size_t total_ = 0;
  std::optional<ring_words<Word>> words_;
  byte_vector data_;
  std::optional<ring_writer<Word>> writer_;
  std::optional<ring_reader<Word>> reader_;
  std::array<std::size_t, 2> wakes_{}; // Bytes in the writer's and in the reader's socket.
  byte_vector taken_;
  std::size_t wrong_ = 0; // Runs in which wrong bytes arrived.
};

constexpr auto all_orders = SIZE_MAX;

TEST(every_order, of_one_write_and_its_reader_comes_to_an_end) {
  const auto found = sleepers<stepped_word>{{.ring_bytes = 2, .writes = {1}, .read_max = 2}}.explore(all_orders);
  EXPECT_EQ(found.stuck, 0u);
  EXPECT_GT(found.orders, 50u);
}

TEST(every_order, of_two_writes_and_their_reader_comes_to_an_end) {
  const auto found = sleepers<stepped_word>{{.ring_bytes = 2, .writes = {1, 1}, .read_max = 2}}.explore(all_orders);
  EXPECT_EQ(found.stuck, 0u);
  EXPECT_GT(found.orders, 1000u);
}

TEST(every_order, with_four_preemptions_of_a_write_that_waits_for_room_comes_to_an_end) {
  const auto found = sleepers<stepped_word>{{.ring_bytes = 1, .writes = {2}, .read_max = 1}}.explore(4);
  EXPECT_EQ(found.stuck, 0u);
  EXPECT_GT(found.orders, 1000u);
}

TEST(every_order, with_two_preemptions_of_long_streams_comes_to_an_end) {
  for (const auto read_max : {1u, 2u, 3u, 16u}) {
    const auto found =
        sleepers<stepped_word>{{.ring_bytes = 4, .writes = {3, 1, 4, 2, 5}, .read_max = read_max}}.explore(2);
    EXPECT_EQ(found.stuck, 0u);
    EXPECT_GT(found.orders, 1000u);
  }
}

TEST(every_order, of_loads_that_only_acquire_and_see_stores_late_comes_to_an_end) {
  for (const auto& [ring_bytes, writes, preemptions] :
       {std::tuple{2u, std::vector<std::size_t>{1}, 3u}, {1u, {2}, 2u}, {4u, {3, 1, 4}, 1u}}) {
    const auto found =
        sleepers<acquired_late_word>{{.ring_bytes = ring_bytes, .writes = writes, .read_max = 2}}.explore(preemptions);
    EXPECT_EQ(found.stuck, 0u);
    EXPECT_GT(found.orders, 20u);
  }
}

// Shows that the steps above matter. With late stores, there is an order in which one end sleeps for ever.
TEST(every_order, of_stores_that_arrive_late_has_one_that_sleeps_for_ever) {
  EXPECT_GT((sleepers<late_word>{{.ring_bytes = 2, .writes = {1}, .read_max = 2}}.explore(1).stuck), 0u);
  EXPECT_GT((sleepers<late_word>{{.ring_bytes = 1, .writes = {2}, .read_max = 1}}.explore(1).stuck), 0u);
}

} // namespace
} // namespace troupe::internal
