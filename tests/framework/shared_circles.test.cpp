// Circles of shared pointers over links. They are refused unless both ends allow them, and then limited per link.
#include "raw_peer.hpp"
#include "two_nodes.hpp"

namespace troupe::tests {
namespace {

/// May point at itself.
struct knot {
  std::vector<std::shared_ptr<knot>> tied_to;
  std::string text;
};
TROUPE_DESCRIBE(knot, tied_to, text)
using knots = std::vector<std::shared_ptr<knot>>;

} // namespace
} // namespace troupe::tests

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::tests::knots)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::object_ref<troupe::tests::knots>)

namespace troupe::tests {
namespace {

class shared_circles : public two_nodes {
protected:
  shared_circles() {
    far_types_ = near_types_ = [](type_registry& types) {
      types.add<knots>("test.knots").add<object_ref<knots>>("test.ref_knots");
    };
  }
  ~shared_circles() override {
    for (auto& each : received_)
      cut(each);
  }

  /// Cuts the circles of these knots.
  static void cut(const knots& of) {
    for (const auto& each : of)
      each->tied_to.clear();
  }

  /// Connects to a receiver that keeps what it gets.
  void connect_with(const link_options& options) {
    publish("keeper", far().system.spawn([this]() -> caf::behavior {
      return {
          [this](knots& value) {
            received_.push_back(std::move(value));
            return static_cast<int>(received_.back().size());
          },
          [](const object_ref<knots>& value) {
            const auto read = value.get();
            if (read)
              cut(*read);
            return read ? std::string() : read.error().message();
          },
      };
    }));
    connect(options);
    keeper_ = find("keeper");
  }

  template <class Value>
  std::string refusal(const Value& value) {
    return text_of(ask<int>(near().system, keeper_, value));
  }

  static knots circle(std::size_t text_bytes = 0) {
    auto one = std::make_shared<knot>();
    one->tied_to = {one};
    one->text.assign(text_bytes, 'x');
    return {one};
  }

  caf::actor keeper_;
  std::vector<knots> received_; // Kept by the keeper, and read only between requests.
};

TEST_F(shared_circles, are_refused_where_they_are_sent) {
  connect_with({});
  const auto sent = circle();
  expect_contains(refusal(sent), "link_options::allow_cycles");
  cut(sent);
  EXPECT_EQ(ask<int>(near().system, keeper_, sent).value_or(0), 1) << "shared, and no circle";
}

TEST_F(shared_circles, are_refused_by_a_receiver_that_does_not_allow_them) {
  connect_with({.allow_cycles = true});
  const auto sent = circle();
  expect_contains(refusal(sent), "link_options::allow_cycles");
  cut(sent);
  EXPECT_TRUE(link_->is_open());
  EXPECT_EQ(ask<int>(near().system, keeper_, sent).value_or(0), 1);
}

TEST_F(shared_circles, arrive_where_both_ends_allow_them) {
  far_options_.accepted_links.allow_cycles = true;
  connect_with({.allow_cycles = true});
  const auto sent = circle();
  EXPECT_EQ(ask<int>(near().system, keeper_, sent).value_or(0), 1);
  cut(sent);
  EXPECT_EQ(received_.at(0).at(0)->tied_to.at(0), received_.at(0).at(0));
}

TEST_F(shared_circles, keep_no_more_than_the_links_option_until_they_are_cut) {
  far_options_.accepted_links.allow_cycles = true;
  far_options_.accepted_links.cycle_bytes = 1_MiB;
  connect_with({.allow_cycles = true});
  const auto sent = circle(100'000);
  std::string refused = "a value";
  int taken = 0;
  for (; taken < 100 && refused == "a value"; ++taken)
    refused = refusal(sent);
  expect_contains(refused, "link_options::cycle_bytes");
  EXPECT_GT(taken, 2);
  for (auto& each : received_)
    cut(each);
  received_.clear();
  EXPECT_EQ(refusal(sent), "a value");
  cut(sent);
}

TEST_F(shared_circles, are_refused_in_objects_that_came_over_the_link) {
  connect_with({});
  const auto value = circle();
  const auto ref = near().home->put(value);
  cut(value);
  ASSERT_TRUE(ref) << ref.error().message();
  const auto answer = ask<std::string>(near().system, keeper_, *ref);
  ASSERT_TRUE(answer) << text_of(answer);
  expect_contains(*answer, "link_options::allow_cycles");
}

} // namespace
} // namespace troupe::tests
