// Goal: a link that compresses delivers the same values in fewer bytes. Each end decides for the messages that it
// sends. If two ends share a store or a process, their link does not compress.
#include <troupe/serializers/serialized.hpp>

#include "two_nodes.hpp"

namespace troupe::tests {

struct parcel {
  std::string to;
  serialized content;
};
TROUPE_DESCRIBE(parcel, to, content)

} // namespace troupe::tests

namespace troupe::tests {
namespace {

constexpr std::size_t samples = 100'000; // 800,000 bytes.

reading large_reading() {
  reading made{.sensor = "roof", .celsius = 21.5};
  for (std::size_t i = 0; i < samples; ++i)
    made.samples.push_back(static_cast<double>(i / 50));
  return made;
}

class compressing_link : public two_nodes {
protected:
  compressing_link() {
    far_options_.store = near_options_.store = std::nullopt;
    far_types_ = near_types_ = [](type_registry& types) { types.add<parcel>("test.parcel"); };
  }

  link& connect_with(compression near_end) {
    options_.compression = near_end;
    return connect(options_);
  }

  /// Sends a large reading there and back. Returns the bytes that each end has written for it.
  struct traffic {
    std::uint64_t there = 0;
    std::uint64_t back = 0;
  };
  traffic echo(compression near_end, compression far_end) {
    far_options_.accepted_links.compression = far_end;
    connect_with(near_end);
    publish("echo", far().system.spawn([](caf::event_based_actor*) -> caf::behavior {
      return {[](reading& value) { return std::move(value); }, [](parcel& value) { return std::move(value); }};
    }));
    const auto before = link_->stats();
    const auto answer = ask<reading>(near().system, find("echo"), large_reading());
    EXPECT_TRUE(answer) << text_of(answer);
    EXPECT_TRUE(answer && *answer == large_reading());
    const auto after = link_->stats();
    return {after.socket_bytes_sent - before.socket_bytes_sent,
            after.socket_bytes_received - before.socket_bytes_received};
  }

  link_options options_;
  static constexpr std::uint64_t plain_bytes = samples * sizeof(double);
};

TEST_F(compressing_link, sends_less_and_delivers_the_same) {
  const auto seen = echo(compression::automatic, compression::automatic);
  EXPECT_LT(seen.there, plain_bytes / 4);
  EXPECT_LT(seen.back, plain_bytes / 4);
}

TEST_F(compressing_link, compresses_by_zstd_where_that_is_asked_for) {
  const auto seen = echo(compression::zstd, compression::lz4);
  EXPECT_LT(seen.there, plain_bytes / 4);
  EXPECT_LT(seen.back, plain_bytes / 4);
  EXPECT_NE(seen.there, seen.back);
}

TEST_F(compressing_link, compresses_nothing_by_itself) {
  const auto seen = echo(link_options{}.compression, link_options{}.compression);
  EXPECT_GT(seen.there, plain_bytes);
  EXPECT_GT(seen.back, plain_bytes);
}

TEST_F(compressing_link, leaves_it_to_each_end_what_it_sends) {
  const auto seen = echo(compression::none, compression::lz4);
  EXPECT_GT(seen.there, plain_bytes);
  EXPECT_LT(seen.back, plain_bytes / 4);
}

TEST_F(compressing_link, compresses_what_goes_over_tcp) {
  far_options_.accepted_links.credentials.secret = options_.credentials.secret = "a secret of at least 16 bytes";
  far_options_.listen = {"tcp://127.0.0.1:0"};
  const auto seen = echo(compression::lz4, compression::lz4);
  EXPECT_LT(seen.there, plain_bytes / 4);
  EXPECT_LT(seen.back, plain_bytes / 4);
}

TEST_F(compressing_link, passes_on_what_is_compressed_as_it_is) {
  far_options_.accepted_links.compression = compression::zstd;
  connect_with(compression::lz4);
  publish("echo", far().system.spawn([](caf::event_based_actor*) -> caf::behavior {
    return {[](parcel& value) { return std::move(value); }};
  }));
  context ctx;
  ctx.compression = compression::lz4;
  const serialized kept{*serialize(large_reading(), {.context = ctx}, near().types, near().families)};
  ASSERT_LT(kept.encoded().size_bytes(), plain_bytes / 4);
  const auto answer = ask<parcel>(near().system, find("echo"), parcel{"roof", kept});
  ASSERT_TRUE(answer) << text_of(answer);
  const auto& frames = answer->content.encoded().frames;
  ASSERT_EQ(frames.size(), kept.encoded().frames.size());
  for (std::size_t i = 0; i < frames.size(); ++i)
    EXPECT_TRUE(std::ranges::equal(frames[i].bytes(), kept.encoded().frames[i].bytes()));
  const auto value = answer->content.get<reading>({}, near().types, near().families);
  ASSERT_TRUE(value) << value.error().message();
  EXPECT_EQ(*value, large_reading());
}

TEST_F(compressing_link, compresses_nothing_where_a_store_is_shared) {
  far_options_.store = near_options_.store = store::options{.name = store_, .capacity_bytes = 64_MiB};
  echo(compression::lz4, compression::lz4);
  ASSERT_TRUE(link_->shares_store());
  EXPECT_EQ(link_->stats().handle_bytes_sent, plain_bytes);
}

TEST_F(compressing_link, counts_in_its_windows_what_compressed_frames_become) {
  far_options_.accepted_links.actor_window_bytes = 1'000'000;
  options_.block_timeout = 0ms;
  options_.actor_queue_bytes = options_.queue_bytes = 2'000'000;
  connect_with(compression::lz4);
  std::promise<void> opening;
  publish("keeper", far().system.spawn([open = opening.get_future().share()](caf::event_based_actor*) -> caf::behavior {
    return {[open](const reading&) { open.wait_for(10s); }};
  }));
  const auto receiver = find("keeper");
  for (int i = 0; i < 10; ++i)
    caf::anon_send(receiver, large_reading());
  EXPECT_TRUE(eventually([&] { return link_->stats().refused_at_bound > 0; })) << "as if nothing were compressed";
  EXPECT_LE(link_->stats().unconsumed_bytes_there, 2 * plain_bytes + 200'000);
  EXPECT_GE(link_->stats().unconsumed_bytes_there, plain_bytes);
  EXPECT_LT(link_->stats().socket_bytes_sent, plain_bytes);
  opening.set_value();
  EXPECT_TRUE(eventually([&] { // All memory is given back.
    const auto now = link_->stats();
    return now.unconsumed_bytes_there + now.waiting_bytes == 0;
  }));
}

TEST_F(compressing_link, refuses_what_is_too_much_when_decompressed_and_lives_on) {
  far_options_.accepted_links.receive_limits.decompressed_bytes = plain_bytes - 1;
  connect_with(compression::lz4);
  publish("echo", far().system.spawn([](caf::event_based_actor*) -> caf::behavior {
    return {[](reading& value) { return std::move(value); }};
  }));
  const auto refused = ask<reading>(near().system, find("echo"), large_reading());
  ASSERT_FALSE(refused);
  EXPECT_NE(text_of(refused).find("limits::decompressed_bytes"), std::string::npos) << text_of(refused);
  const auto answer = ask<reading>(near().system, find("echo"), reading{.sensor = "roof"});
  EXPECT_TRUE(answer) << text_of(answer);
}

} // namespace
} // namespace troupe::tests
