// Links whose bytes go through shared memory.
#include "raw_peer.hpp"
#include "two_nodes.hpp"

#include <atomic>
#include <chrono>
#include <fstream>
#include <numeric>
#include <random>
#include <thread>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <troupe/framework/internal/net/ring_memory.hpp>

namespace troupe::tests {

/// Takes long to decode. Counts finished decodings.
struct slow_to_decode {
  static inline std::atomic<int> decoded{0};
  int number = 0;
};

} // namespace troupe::tests

template <>
struct troupe::codec<troupe::tests::slow_to_decode> {
  using form = int;
  static std::expected<form, serialize_error> reduce(const tests::slow_to_decode& value, const context&) {
    return value.number;
  }
  static std::expected<tests::slow_to_decode, serialize_error> rebuild(form&& number, const context&) {
    for (const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(5);
         std::chrono::steady_clock::now() < end;) {
    }
    ++tests::slow_to_decode::decoded;
    return tests::slow_to_decode{number};
  }
};
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::tests::slow_to_decode)

namespace troupe::tests {
namespace {

using namespace internal;

/// Counts this process's mappings of rings.
std::ptrdiff_t mapped_rings() {
  std::ifstream maps{"/proc/self/maps"};
  std::ptrdiff_t count = 0;
  for (std::string line; std::getline(maps, line);)
    count += line.find("memfd:troupe-ring") != std::string::npos ? 1 : 0;
  return count;
}

class rings : public two_nodes {
protected:
  [[nodiscard]] bool are_used() {
    return eventually([&] { return link_->uses_rings(); });
  }

  /// Publishes an actor that answers each number with the next one. Returns the near end's handle.
  caf::actor counter() {
    publish("counter", far().system.spawn([]() -> caf::behavior { return {[](int value) { return value + 1; }}; }));
    connect(options_);
    return find("counter");
  }
  void expect_answers(const caf::actor& counter) {
    for (int i = 0; i < 100; ++i)
      ASSERT_EQ((ask<int>(near().system, counter, i)), i + 1);
  }

  link_options options_;
};

TEST_F(rings, are_used_between_ends_that_share_a_store) {
  const auto there = counter();
  EXPECT_TRUE(are_used());
  expect_answers(there);
}

TEST_F(rings, are_not_used_where_no_store_is_shared) {
  near_options_.store = std::nullopt;
  const auto there = counter();
  expect_answers(there);
  EXPECT_FALSE(link_->uses_rings());
}

TEST_F(rings, are_used_without_a_store_where_both_ends_say_so) {
  near_options_.store = std::nullopt;
  options_.use_rings = true;
  far_options_.accepted_links.use_rings = true;
  const auto there = counter();
  EXPECT_TRUE(are_used());
  expect_answers(there);
}

TEST_F(rings, are_used_where_both_addresses_say_so) {
  near_options_.store = std::nullopt;
  address_ = "shm://@" + unique_name("troupe-test");
  far_options_.listen = {address_};
  const auto there = counter();
  EXPECT_EQ(far().home->addresses().front(), address_);
  EXPECT_TRUE(are_used());
  expect_answers(there);
}

TEST_F(rings, are_not_used_where_either_end_wants_none) {
  options_.use_rings = false;
  const auto there = counter();
  expect_answers(there);
  EXPECT_FALSE(link_->uses_rings());
}

TEST_F(rings, are_declined_by_an_end_that_listens_and_wants_none) {
  far_options_.accepted_links.use_rings = false;
  const auto there = counter();
  expect_answers(there);
  EXPECT_FALSE(link_->uses_rings());
  EXPECT_TRUE(eventually([] { return mapped_rings() == 0; })) << mapped_rings();
}

TEST_F(rings, that_bring_what_takes_long_to_decode_leave_the_others_their_turns) {
  constexpr int count = 200; // They take few bytes, which are read at once.
  far_types_ = near_types_ = [](type_registry& types) { types.add<slow_to_decode>("slow_to_decode"); };
  publish("sink", far().system.spawn([]() -> caf::behavior { return {[](const slow_to_decode&) {}}; }));
  counter();
  auto other = near().home->connect(address_, options_).value();
  const auto there = other.find("counter").value();
  const auto sink = find("sink");
  ASSERT_TRUE(eventually([&] { return link_->uses_rings() && other.uses_rings(); }));
  EXPECT_GE(mapped_rings(), 4);
  // Asks without a pause: a sleeping ring would be woken through its socket.
  std::atomic<int> answers{0};
  std::jthread asker{[&](const std::stop_token& stop) {
    while (!stop.stop_requested() && ask<int>(near().system, there, 1) == 2)
      ++answers;
  }};
  ASSERT_TRUE(eventually([&] { return answers > 100; }));
  slow_to_decode::decoded = 0;
  for (int i = 0; i < count; ++i)
    caf::anon_send(sink, slow_to_decode{i});
  ASSERT_TRUE(eventually([] { return slow_to_decode::decoded > 1; }));
  const auto before = answers.load();
  ASSERT_TRUE(eventually([&] { return answers > before + 2; }));
  EXPECT_LT(slow_to_decode::decoded, count / 2);
}

TEST_F(rings, are_declined_where_they_are_larger_than_the_other_end_wants) {
  options_.ring_bytes = 64_KiB;
  far_options_.accepted_links.ring_bytes = 32_KiB;
  const auto there = counter();
  expect_answers(there);
  EXPECT_FALSE(link_->uses_rings());
}

TEST_F(rings, take_no_more_memory_than_the_node_has_for_them) {
  near_options_.ring_memory_bytes = 3 * ring_memory::total_bytes(options_.ring_bytes) - 1;
  counter();
  EXPECT_TRUE(are_used());
  std::vector<link> links{*link_};
  for (int i = 0; i < 3; ++i)
    links.push_back(near().home->connect(address_).value());
  const auto by_rings = [&] {
    return std::ranges::count_if(links, [](const link& each) { return each.uses_rings(); });
  };
  EXPECT_TRUE(eventually([&] { return by_rings() == 2; }));
  EXPECT_EQ(by_rings(), 2);
  // A closed link gives back its rings, and the next link takes them.
  links[0].close();
  EXPECT_TRUE(eventually([&] {
    auto more = near().home->connect(address_).value();
    return eventually([&] { return more.uses_rings(); }, 100ms);
  }));
}

TEST_F(rings, of_impossible_sizes_are_an_error) {
  options_.ring_bytes = 5000;
  far();
  const auto connected = near().home->connect(address_, options_);
  ASSERT_FALSE(connected);
  EXPECT_EQ(connected.error().code(), node_errc::bad_option);
  expect_contains(connected.error().message(), "ring_bytes is 5,000");
}

TEST_F(rings, carry_what_is_larger_than_they_are) {
  far_options_.accepted_links.ring_bytes = 4_KiB;
  options_ = {.spill_bytes = SIZE_MAX, .ring_bytes = 4_KiB};
  far_options_.accepted_links.spill_bytes = SIZE_MAX;
  publish("mirror", far().system.spawn([]() -> caf::behavior { return {[](const reading& what) { return what; }}; }));
  connect(options_);
  EXPECT_TRUE(are_used());
  reading sent{.sensor = "roof", .samples = std::vector<double>(1'000'000)};
  std::iota(sent.samples.begin(), sent.samples.end(), 0.5);
  EXPECT_EQ((ask<reading>(near().system, find("mirror"), sent)), sent);
}

TEST_F(rings, keep_the_order_of_messages_while_they_are_set_up) {
  std::vector<int> seen;
  std::promise<void> all;
  constexpr int count = 20'000;
  publish("list", far().system.spawn([&]() -> caf::behavior {
    return {[&](int value) {
      seen.push_back(value);
      if (value == count - 1)
        all.set_value();
    }};
  }));
  connect();
  const auto list = find("list");
  for (int i = 0; i < count; ++i)
    caf::anon_send(list, i);
  ASSERT_EQ(all.get_future().wait_for(30s), std::future_status::ready);
  std::vector<int> sent(count);
  std::iota(sent.begin(), sent.end(), 0);
  EXPECT_EQ(seen, sent);
}

TEST_F(rings, of_a_link_that_waits_asleep_or_polling_carry_messages_too) {
  for (const auto mode : {wait_mode::sleep, wait_mode::adaptive, wait_mode::poll}) {
    options_.wait = mode;
    publish("counter-" + std::to_string(static_cast<int>(mode)),
            far().system.spawn([]() -> caf::behavior { return {[](int value) { return value + 1; }}; }));
    connect(options_);
    EXPECT_TRUE(are_used());
    expect_answers(find("counter-" + std::to_string(static_cast<int>(mode))));
    link_->close();
  }
}

/// Returns the processor time that this process has used.
std::chrono::nanoseconds processor_time() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return std::chrono::seconds{now.tv_sec} + std::chrono::nanoseconds{now.tv_nsec};
}

TEST_F(rings, cost_nothing_while_nothing_comes) {
  const auto there = counter();
  expect_answers(there);
  EXPECT_TRUE(are_used());
  // Both ends soon sleep. From then on, half a second takes little processor time.
  EXPECT_TRUE(eventually([] {
    const auto before = processor_time();
    std::this_thread::sleep_for(500ms);
    return processor_time() - before < 50ms;
  }));
  expect_answers(there);
}

TEST_F(rings, end_with_the_peer_and_what_it_said_before_is_read) {
  std::atomic<int> seen{0};
  publish("list", far().system.spawn([&]() -> caf::behavior { return {[&](int) { ++seen; }}; }));
  connect();
  const auto list = find("list");
  EXPECT_TRUE(are_used());
  for (int i = 0; i < 1000; ++i)
    caf::anon_send(list, i);
  link_->close();
  EXPECT_TRUE(eventually([&] { return seen == 1000; }));
  EXPECT_TRUE(eventually([&] { return !link_->is_open(); }));
}

// -- a peer that is dishonest

class hostile_rings : public rings {
protected:
  hostile_rings() {
    far_options_.accepted_links.use_rings = true;
    far_options_.accepted_links.ring_bytes = ring_bytes;
  }
  static constexpr std::size_t ring_bytes = 4096;

  static hello with_rings() {
    auto mine = raw_peer::honest_hello();
    mine.features = {{"rings", 1}};
    return mine;
  }
  /// Offers a ring, as an honest peer does.
  void offer(raw_peer& peer) {
    auto made = ring_memory::make(ring_bytes);
    ASSERT_TRUE(made);
    const int descriptor = made->take_descriptor();
    memory_.emplace(*std::move(made));
    peer.write_admin_with(std::array{descriptor}, admin_op::ring_offer, ring_offer{ring_bytes});
    ::close(descriptor);
  }
  /// Moves to rings, as an honest peer does: further packets go through its ring.
  void move_into_rings(raw_peer& peer) {
    peer.open(with_rings());
    offer(peer);
    ASSERT_TRUE(peer.hear<ring_begin>(admin_op::ring_begin));
    peer.write_admin(admin_op::ring_begin, ring_begin{ring_bytes});
  }
  /// Makes the node check its rings.
  static void wake(raw_peer& peer) {
    const std::byte look{1};
    peer.write({&look, 1});
  }
  bool node_is_well() {
    connect({.use_rings = false});
    return link_->is_open();
  }

  std::optional<ring_memory> memory_;
};

TEST_F(hostile_rings, a_peer_by_hand_can_use_them) {
  far();
  raw_peer peer{address_};
  move_into_rings(peer);
  ring_writer<shared_word> out{memory_->words_of(link_side::dialer), memory_->bytes_of(link_side::dialer)};
  ring_reader<shared_word> in{memory_->words_of(link_side::acceptor), memory_->bytes_of(link_side::acceptor)};
  const auto question = raw_peer::packet(packet_kind::admin, static_cast<std::uint8_t>(admin_op::find),
                                         msgpack::encode_described(find_query{7, "nobody"}));
  EXPECT_TRUE(eventually([&] { return memory_->words_of(link_side::dialer).reader_sleeps.load() != 0; }));
  ASSERT_EQ(out.put(question), question.size());
  EXPECT_TRUE(out.publish());
  wake(peer);
  byte_vector answer(1000);
  std::size_t read = 0;
  EXPECT_TRUE(eventually([&] {
    read = in.take(answer).value_or(0);
    return read > 0;
  }));
  ASSERT_GT(read, packet_head_bytes);
  const auto what =
      msgpack::decode_described<found>(bytes_view{answer}.subspan(packet_head_bytes, read - packet_head_bytes));
  ASSERT_TRUE(what);
  EXPECT_EQ(what->query, 7u);
}

TEST_F(hostile_rings, an_offer_without_a_descriptor_ends_the_link) {
  far();
  raw_peer peer{address_};
  peer.open(with_rings());
  peer.write_admin(admin_op::ring_offer, ring_offer{ring_bytes});
  expect_contains(peer.farewell(), "no descriptor came");
  EXPECT_TRUE(node_is_well());
}

TEST_F(hostile_rings, an_offer_of_memory_that_can_shrink_ends_the_link) {
  far();
  raw_peer peer{address_};
  peer.open(with_rings());
  const int made = ::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  ASSERT_EQ(::ftruncate(made, static_cast<off_t>(ring_memory::total_bytes(ring_bytes))), 0);
  peer.write_admin_with(std::array{made}, admin_op::ring_offer, ring_offer{ring_bytes});
  ::close(made);
  expect_contains(peer.farewell(), "not sealed");
  EXPECT_TRUE(node_is_well());
}

TEST_F(hostile_rings, an_offer_of_an_impossible_size_ends_the_link) {
  far();
  for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{5000}, UINT64_MAX}) {
    raw_peer peer{address_};
    peer.open(with_rings());
    const int some = ::memfd_create("test", MFD_CLOEXEC);
    peer.write_admin_with(std::array{some}, admin_op::ring_offer, ring_offer{bytes});
    ::close(some);
    expect_contains(peer.farewell(), "must be a power of two");
  }
  EXPECT_TRUE(node_is_well());
}

TEST_F(hostile_rings, a_second_offer_ends_the_link) {
  far();
  raw_peer peer{address_};
  peer.open(with_rings());
  offer(peer);
  ASSERT_TRUE(peer.hear<ring_begin>(admin_op::ring_begin));
  peer.write_admin(admin_op::ring_offer, ring_offer{ring_bytes});
  EXPECT_TRUE(eventually([&] { return far().home->links().empty(); }));
  EXPECT_TRUE(node_is_well());
}

TEST_F(hostile_rings, a_begin_without_an_offer_ends_the_link) {
  far();
  raw_peer peer{address_};
  peer.open(with_rings());
  peer.write_admin(admin_op::ring_begin, ring_begin{ring_bytes});
  expect_contains(peer.farewell(), "out of place");
  EXPECT_TRUE(node_is_well());
}

TEST_F(hostile_rings, an_offer_without_the_feature_ends_the_link) {
  far();
  raw_peer peer{address_};
  peer.open();
  offer(peer);
  expect_contains(peer.farewell(), "out of place");
  EXPECT_TRUE(node_is_well());
}

TEST_F(hostile_rings, several_descriptors_end_the_link) {
  far();
  raw_peer peer{address_};
  peer.open(with_rings());
  const int some = ::memfd_create("test", MFD_CLOEXEC);
  peer.write_admin_with(std::array{some, some, some}, admin_op::ring_offer, ring_offer{ring_bytes});
  ::close(some);
  EXPECT_TRUE(eventually([&] { return far().home->links().empty(); }));
  EXPECT_TRUE(node_is_well());
}

TEST_F(hostile_rings, counts_that_cannot_be_end_the_link) {
  for (const bool of_own_ring : {true, false}) {
    far();
    raw_peer peer{address_};
    move_into_rings(peer);
    const auto side = of_own_ring ? link_side::dialer : link_side::acceptor;
    auto& words = memory_->words_of(side);
    (of_own_ring ? words.written : words.read).store(ring_bytes * 1000);
    // Makes the node use that ring.
    if (!of_own_ring) {
      ring_writer<shared_word> out{memory_->words_of(link_side::dialer), memory_->bytes_of(link_side::dialer)};
      for (int i = 0; i < 200; ++i) {
        const auto question = raw_peer::packet(packet_kind::admin, static_cast<std::uint8_t>(admin_op::find),
                                               msgpack::encode_described(find_query{7, std::string(10, 'x')}));
        EXPECT_TRUE(eventually([&] { return out.put(question).value_or(0) > 0 || far().home->links().empty(); }));
        static_cast<void>(out.publish());
        wake(peer);
      }
    } else {
      wake(peer);
    }
    EXPECT_TRUE(eventually([&] { return far().home->links().empty(); }));
  }
  EXPECT_TRUE(node_is_well());
}

TEST_F(hostile_rings, noise_in_the_ring_ends_the_link) {
  std::mt19937 random{7};
  for (int i = 0; i < 50; ++i) {
    far();
    raw_peer peer{address_};
    move_into_rings(peer);
    ring_writer<shared_word> out{memory_->words_of(link_side::dialer), memory_->bytes_of(link_side::dialer)};
    byte_vector noise(1000);
    for (auto& each : noise)
      each = static_cast<std::byte>(random());
    noise[packet_head_bytes - 1] = std::byte{1}; // No valid packet head ends with this byte.
    ASSERT_EQ(out.put(noise), noise.size());
    static_cast<void>(out.publish());
    wake(peer);
    EXPECT_TRUE(eventually([&] { return far().home->links().empty(); }));
  }
  EXPECT_TRUE(node_is_well());
}

TEST_F(hostile_rings, a_peer_that_takes_its_memory_away_harms_nobody) {
  far();
  raw_peer peer{address_};
  peer.open(with_rings());
  auto made = ring_memory::make(ring_bytes);
  ASSERT_TRUE(made);
  const int descriptor = made->take_descriptor();
  memory_.emplace(*std::move(made));
  peer.write_admin_with(std::array{descriptor}, admin_op::ring_offer, ring_offer{ring_bytes});
  ASSERT_TRUE(peer.hear<ring_begin>(admin_op::ring_begin));
  peer.write_admin(admin_op::ring_begin, ring_begin{ring_bytes});
  EXPECT_EQ(::ftruncate(descriptor, 0), -1); // Its size is sealed, ...
  EXPECT_EQ(::fallocate(descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
                        static_cast<off_t>(ring_memory::total_bytes(ring_bytes))),
            0); // ... and a punched hole reads as zeros.
  ::close(descriptor);
  memory_->words_of(link_side::dialer).written.store(1);
  wake(peer);
  EXPECT_TRUE(node_is_well());
}

} // namespace
} // namespace troupe::tests
