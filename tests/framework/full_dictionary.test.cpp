// A peer keeps a limited number of message signatures. Beyond that, messages with new signatures are refused, and the
// link stays open.
#include "two_nodes.hpp"

namespace troupe::tests {
namespace {

class full_dictionary : public two_nodes {
protected:
  full_dictionary() { far_options_.store = near_options_.store = std::nullopt; }

  void SetUp() override {
    publish("counter", far().system.spawn([this](caf::event_based_actor* self) -> caf::behavior {
      self->set_default_handler([this](caf::scheduled_actor*, caf::message_view&) -> caf::result<caf::message> {
        ++arrived_;
        return caf::make_message(true);
      });
      return {[](caf::unit_t) {}};
    }));
    connect();
    counter_ = find("counter");
  }

  /// Returns a message of eight values, whose types are the base-5 digits of `which`.
  static caf::message of_kind(int which) {
    caf::message_builder made;
    for (int i = 0; i < 8; ++i, which /= 5)
      switch (which % 5) {
      case 0:
        made.append(std::int32_t{1});
        break;
      case 1:
        made.append(2.0);
        break;
      case 2:
        made.append(std::string{"three"});
        break;
      case 3:
        made.append(std::int64_t{4});
        break;
      default:
        made.append(true);
      }
    return made.move_to_message();
  }
  /// Sends messages of different kinds until some are refused. Returns how many were sent.
  int fill() {
    int sent = 0;
    while (sent < kinds_max && link_->is_open() && link_->stats().unserializable == 0) {
      const auto last = std::min(sent + 100, kinds_max);
      for (; sent < last; ++sent)
        caf::anon_send(counter_, of_kind(sent));
    }
    return sent;
  }
  /// Returns the error's text, or "a value".
  std::string ask_in_kind(int which) { return text_of(ask<bool>(near().system, counter_, of_kind(which))); }

  static constexpr int kinds_max = 20'000;
  caf::actor counter_;
  std::atomic<int> arrived_ = 0;
};

TEST_F(full_dictionary, refuses_messages_with_new_signatures_and_the_link_goes_on) {
  const auto sent = fill();
  ASSERT_LT(sent, kinds_max);
  EXPECT_TRUE(link_->is_open());
  const auto refused = static_cast<int>(link_->stats().unserializable);
  EXPECT_GT(refused, 0);
  EXPECT_TRUE(eventually([&] { return arrived_ == sent - refused; })) << arrived_ << " of " << sent - refused;
  EXPECT_EQ(ask_in_kind(0), "a value") << "it is known";
  EXPECT_TRUE(link_->is_open());
}

TEST_F(full_dictionary, a_request_with_a_new_signature_is_told_why) {
  const auto sent = fill();
  const auto why = ask_in_kind(sent + 1);
  EXPECT_NE(why.find("keeps at most 65,536 signatures and 16,777,216 bytes of signatures and headers per link"),
            std::string::npos)
      << why;
  EXPECT_NE(why.find(", i32, i32]"), std::string::npos) << why;
}

// Goal: an answer always arrives, even if it is the first error that crosses the link.
TEST_F(full_dictionary, errors_pass_all_the_same) {
  const auto failing = near().system.spawn([]() -> caf::behavior {
    return {[](std::int32_t) -> caf::result<bool> { return caf::sec::bad_function_call; }};
  });
  fill();
  ASSERT_TRUE(near().home->publish("failing", failing));
  ASSERT_EQ(far().home->links().size(), 1u);
  auto back = far().home->links().front().find("failing");
  ASSERT_TRUE(back) << back.error().message();
  const auto why = ask<bool>(far().system, *back, std::int32_t{7});
  ASSERT_FALSE(why);
  EXPECT_TRUE(why.error() == caf::sec::bad_function_call) << text_of(why);
}

} // namespace
} // namespace troupe::tests
