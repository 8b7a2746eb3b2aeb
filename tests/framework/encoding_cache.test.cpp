// Goal: a message to several links is encoded once if they accept the same families, and is never shared if its
// encoding depends on the recipient.
#include <atomic>

#include "two_nodes.hpp"

namespace encoded_once {

using namespace troupe;

std::atomic<int> encodings{0};

/// Counts its encodings. Its encoding does not depend on the recipient.
struct counted {
  std::string text;
};
/// Counts its encodings, but its codec does not declare that it is independent of the context.
struct dependent {
  std::string text;
};

} // namespace encoded_once

template <>
struct troupe::codec<encoded_once::counted> {
  using form = std::string;
  static constexpr bool is_self_contained = true;
  static std::expected<form, serialize_error> reduce(const encoded_once::counted& value, const context&) {
    ++encoded_once::encodings;
    return value.text;
  }
  static std::expected<encoded_once::counted, serialize_error> rebuild(form&& text, const context&) {
    return encoded_once::counted{std::move(text)};
  }
};
template <>
struct troupe::codec<encoded_once::dependent> {
  using form = std::string;
  static std::expected<form, serialize_error> reduce(const encoded_once::dependent& value, const context& ctx) {
    ++encoded_once::encodings;
    return value.text + std::string(ctx.transport);
  }
  static std::expected<encoded_once::dependent, serialize_error> rebuild(form&& text, const context&) {
    return encoded_once::dependent{std::move(text)};
  }
};
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(encoded_once::counted)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(encoded_once::dependent)

namespace encoded_once {

class to_several_links : public tests::two_nodes {
protected:
  static constexpr int count = 3;

  to_several_links() {
    far_types_ = near_types_ = [](type_registry& types) { types.add<counted>("counted").add<dependent>("dependent"); };
  }

  /// Connects one link per element of `options`, each with a receiver that counts arrivals.
  void connect_each(const std::vector<link_options>& options) {
    auto receiver = far().system.spawn([this](caf::event_based_actor*) -> caf::behavior {
      return {[this](const counted& value) { note(value.text.size()); },
              [this](const dependent& value) { note(value.text.size()); },
              [this](const array<double>& values) { note(values.size()); },
              [this](const std::string& text, const array<double>& values) { note(text.size() + values.size()); },
              [this](const caf::actor&, const std::string& text) { note(text.size()); }};
    });
    publish("receiver", receiver);
    for (const auto& each : options) {
      auto connected = near().home->connect(address_, each);
      ASSERT_TRUE(connected.has_value()) << connected.error().message();
      links_.push_back(*std::move(connected));
      receivers_.push_back(links_.back().find("receiver").value());
    }
  }
  void connect_all(const link_options& options = {}) { connect_each(std::vector<link_options>(count, options)); }

  void note(std::size_t size) {
    ++arrived_;
    sizes_ += size;
  }

  /// Sends the message over each link. Returns how often it was encoded until it had arrived everywhere.
  int encodings_of(const caf::message& message, std::size_t size) {
    encodings = 0;
    arrived_ = 0;
    sizes_ = 0;
    near().system.spawn([this, message](caf::event_based_actor* self) {
      for (const auto& each : receivers_)
        self->send(each, message);
    });
    EXPECT_TRUE(tests::eventually([&] { return arrived_ == static_cast<int>(receivers_.size()); })) << arrived_;
    EXPECT_EQ(sizes_, size * receivers_.size());
    return encodings;
  }

  std::vector<troupe::link> links_;
  std::vector<caf::actor> receivers_;
  std::atomic<int> arrived_{0};
  std::atomic<std::size_t> sizes_{0};
};

TEST_F(to_several_links, large_messages_are_encoded_once) {
  connect_all();
  EXPECT_EQ(encodings_of(caf::make_message(counted{std::string(5'000, 'x')}), 5'000), 1);
  EXPECT_EQ(encodings_of(caf::make_message(counted{std::string(500'000, 'x')}), 500'000), 1);
}

TEST_F(to_several_links, without_a_shared_store_too) {
  connect_all({.share_store = false});
  EXPECT_EQ(encodings_of(caf::make_message(counted{std::string(500'000, 'x')}), 500'000), 1);
  EXPECT_EQ(encodings_of(caf::make_message(std::string("text"), array<double>(std::vector<double>(100'000))), 100'004),
            0);
}

TEST_F(to_several_links, what_lies_in_the_store_lies_there_once) {
  connect_all();
  static_cast<void>(encodings_of(caf::make_message(array<double>(std::vector<double>(1'000'000))), 1'000'000));
  const auto summary = store::object_store{*near().home->store()}.summary();
  ASSERT_TRUE(summary.has_value());
  EXPECT_LE(summary->objects, 1U) << "not one for each link";
  EXPECT_TRUE(store_empties()) << "what is kept for other links is let go of";
}

TEST_F(to_several_links, with_other_families_they_are_encoded_for_each) {
  connect_each({link_options{.serializers = {"typed"}}, link_options{.serializers = {"msgpack"}},
                link_options{.serializers = {"typed"}}, link_options{.compression = compression::lz4}});
  // Three encodings: `typed` alone, `msgpack`, and the default list. The last link shares the store, so it does not
  // compress.
  EXPECT_EQ(encodings_of(caf::make_message(counted{std::string(5'000, 'x')}), 5'000), 3);
}

TEST_F(to_several_links, compressed_ones_are_compressed_once) {
  connect_all({.compression = compression::lz4, .share_store = false});
  EXPECT_EQ(encodings_of(caf::make_message(counted{std::string(500'000, 'x')}), 500'000), 1);
  for (const auto& each : links_)
    EXPECT_LT(each.stats().socket_bytes_sent, 50'000U);
}

TEST_F(to_several_links, what_depends_on_the_recipient_is_encoded_for_each) {
  connect_all();
  EXPECT_EQ(encodings_of(caf::make_message(dependent{std::string(5'000, 'x')}), 5'004), count);
}

TEST_F(to_several_links, handles_are_counted_for_each) {
  connect_all();
  caf::scoped_actor self(near().system);
  EXPECT_EQ(encodings_of(caf::make_message(caf::actor_cast<caf::actor>(self), std::string(5'000, 'x')), 5'000), 0);
}

TEST_F(to_several_links, small_ones_arrive_as_well) {
  connect_all();
  EXPECT_EQ(encodings_of(caf::make_message(counted{"small"}), 5), count)
      << "encoding them takes less than finding them";
}

TEST_F(to_several_links, other_messages_are_never_taken_for_it) {
  connect_all();
  for (std::size_t size = 2'000; size < 2'200; ++size)
    EXPECT_EQ(encodings_of(caf::make_message(counted{std::string(size, 'x')}), size), 1)
        << "at the same address, perhaps";
}

} // namespace encoded_once
