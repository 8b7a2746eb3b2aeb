// The last step of an incoming message, with fake tables instead of a link's.
#include <troupe/framework/internal/link/delivery.hpp>

#include <memory>
#include <string>
#include <vector>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/system_messages.hpp>

#include <gtest/gtest.h>

#include <troupe/framework/internal/caf_port/asker.hpp>
#include <troupe/framework/internal/caf_port/node_ids.hpp>
#include <troupe/framework/internal/wire/admin.hpp>
#include <troupe/framework/node_error.hpp>
#include <troupe/serializers/type_registry.hpp>

namespace troupe::internal {
namespace {

/// A link to another node, or to the sender's own.
class fake_link final : public proxy_link {
public:
  bool is_down() const noexcept override { return false; }
  bool send_unless_down(std::uint64_t receiver, caf::mailbox_element_ptr& what, caf::execution_unit* context) override {
    send(receiver, std::move(what), context);
    return true;
  }
  void send(std::uint64_t receiver, caf::mailbox_element_ptr what, caf::execution_unit*) override {
    said.push_back("send " + std::to_string(receiver) + (what->mid.is_response() ? " answer" : ""));
    contents.push_back(what->content().size() == 1 ? what->move_content_to_message() : caf::message{});
  }
  void watch(std::uint64_t, caf::strong_actor_ptr) override {}
  void unwatch(std::uint64_t) override {}
  void proxy_gone(std::uint64_t, const caf::actor_control_block*) override {}
  bool forward(std::uint64_t receiver, const forwarded_message&, const caf::strong_actor_ptr&, caf::message_id,
               receipt&) override {
    said.push_back("forward " + std::to_string(receiver));
    return forwards;
  }
  void forward_decoded(std::uint64_t receiver, caf::mailbox_element_ptr, receipt, std::span<const std::byte>) override {
    said.push_back("pass on " + std::to_string(receiver));
  }
  introduce introduction_of(std::uint64_t) const override { return {}; }
  bool is_ready(std::uint64_t) override { return true; }
  void notify_when_ready(std::uint64_t, const caf::strong_actor_ptr&, const caf::strong_actor_ptr&) override {}
  void note_handled(std::chrono::nanoseconds took, std::uint64_t stands_for) noexcept override {
    handled.add(took, stands_for);
  }

  latency_meter handled;
  bool forwards = true;
  std::vector<std::string> said;
  std::vector<caf::message> contents;
};

class fake_ends final : public ends_finder {
public:
  std::expected<message_ends, node_error> find_ends(const message_head&, taken_question&) override {
    ++looks;
    if (!ends.receiver)
      return std::unexpected{node_error{node_errc::protocol_violation, "nobody"}};
    return ends;
  }
  void count_mentions(std::uint64_t number, std::uint64_t more) override {
    counted += std::to_string(number) + '+' + std::to_string(more) + ' ';
  }
  bool serves_all_links(const caf::strong_actor_ptr& actor) const override { return actor == server; }

  message_ends ends;
  caf::strong_actor_ptr server;
  int looks = 0;
  std::string counted;
};

class last_step : public testing::Test {
protected:
  last_step() {
    ends_.ends.receiver = caf::actor_cast<caf::strong_actor_ptr>(receiver_);
    ends_.ends.sender = proxy_of(7);
    routes_.name_peer("peer");
    delivery_.name_peer("peer");
  }

  caf::strong_actor_ptr proxy_of(std::uint64_t number) {
    return make_proxy(system_, read_node_id(7, std::string(40, 'b')), number, link_);
  }
  message_route& route(const message_head& head) { return **routes_.find(head, returned_); }
  std::expected<void, node_error> deliver_text(const message_head& head, message_kind kind = message_kind::ordinary) {
    auto& to = route(head);
    message_under_construction built{text_, {}};
    *static_cast<std::string*>(built.construct_next()) = "tea";
    return delivery_.deliver(to, head, kind, std::move(built));
  }
  bool has_mail() { return receiver_->has_next_message(); }

  static constexpr message_head plain_{.receiver = 3, .sender = 7};
  static constexpr message_head request_{
      .flags = message_flags::request, .receiver = 3, .sender = 7, .request_number = 12};
  static constexpr message_head answer_{
      .flags = message_flags::response, .receiver = 3, .sender = 7, .request_number = 12};

  const type_registry types_;
  const signature text_ = resolve_signature({"str"}, types_); // Messages left in the mailbox refer to it.
  caf::actor_system_config config_;
  caf::actor_system system_{config_};
  caf::scoped_actor receiver_{system_};
  std::shared_ptr<fake_link> link_ = std::make_shared<fake_link>();
  fake_ends ends_;
  limited_log warnings_;
  std::atomic<std::uint64_t> undelivered_{0}, undecodable_{0};
  route_finder routes_{ends_, warnings_};
  taken_question returned_;
  delivery delivery_{ends_, system_, false, {undelivered_, undecodable_}, warnings_};
};

TEST_F(last_step, a_message_lies_in_its_receivers_mailbox_with_its_sender) {
  ASSERT_TRUE(deliver_text(plain_));
  receiver_->receive([&](const std::string& text) {
    EXPECT_EQ(text, "tea");
    EXPECT_EQ(receiver_->current_sender(), ends_.ends.sender);
  });
}

TEST_F(last_step, the_tables_are_asked_once_for_messages_of_one_pair) {
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(deliver_text(plain_));
  EXPECT_EQ(ends_.looks, 1);
  EXPECT_EQ(ends_.counted, "");
  ASSERT_TRUE(deliver_text({.receiver = 4, .sender = 7}));
  EXPECT_EQ(ends_.looks, 2);
  EXPECT_EQ(ends_.counted, "7+2 ");
  routes_.forget();
  EXPECT_EQ(ends_.counted, "7+2 ") << "the first mention is counted by the tables";
}

TEST_F(last_step, messages_of_nobody_mention_nobody) {
  ends_.ends.sender = nullptr;
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(deliver_text({.receiver = 3}));
  routes_.forget();
  EXPECT_EQ(ends_.looks, 1);
  EXPECT_EQ(ends_.counted, "");
}

TEST_F(last_step, a_message_that_comes_back_is_looked_up_each_time) {
  const message_head returned{.flags = message_flags::returned, .receiver = 3, .sender = 7};
  ASSERT_TRUE(deliver_text(returned));
  ASSERT_TRUE(deliver_text(returned));
  EXPECT_EQ(ends_.looks, 2);
}

TEST_F(last_step, a_receiver_that_the_peer_was_not_given_ends_the_link) {
  ends_.ends.receiver = nullptr;
  const auto found = routes_.find(plain_, returned_);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code(), node_errc::protocol_violation);
}

TEST_F(last_step, a_request_of_another_nodes_actor_comes_from_an_asker) {
  ASSERT_TRUE(deliver_text(request_));
  receiver_->receive([&](const std::string&) {
    const auto* asking = as_asker(receiver_->current_sender());
    ASSERT_NE(asking, nullptr);
    EXPECT_EQ(asking->actor(), ends_.ends.sender);
  });
}

TEST_F(last_step, the_time_until_a_request_is_answered_is_told_to_its_link) {
  delivery timing{ends_, system_, false, {undelivered_, undecodable_, {}, true}, warnings_};
  const auto deliver_to = [&](delivery& by) {
    auto& to = route(request_);
    message_under_construction built{text_, {}};
    *static_cast<std::string*>(built.construct_next()) = "tea";
    return by.deliver(to, request_, message_kind::ordinary, std::move(built)).has_value();
  };
  ASSERT_TRUE(deliver_to(timing));
  EXPECT_EQ(link_->handled.stats().count, 0u);
  receiver_->receive([](const std::string& text) { return text; });
  EXPECT_EQ(link_->handled.stats().count, 1u);
  ASSERT_TRUE(deliver_to(delivery_)); // Does not time handlers.
  receiver_->receive([](const std::string& text) { return text; });
  EXPECT_EQ(link_->handled.stats().count, 1u);
}

TEST_F(last_step, a_request_that_nobody_asks_any_more_is_not_delivered) {
  ends_.ends.is_unasked = true;
  ASSERT_TRUE(route(request_).is_unasked());
  delivery_.refuse_unasked();
  EXPECT_EQ(undelivered_, 1u);
}

TEST_F(last_step, who_waits_is_told_what_cannot_be_decoded) {
  ASSERT_TRUE(delivery_.give_up(route(request_), request_, {node_errc::undecodable, "broken"}));
  EXPECT_EQ(link_->said, std::vector<std::string>{"send 7 answer"});
  EXPECT_FALSE(has_mail());
  ASSERT_TRUE(delivery_.give_up(route(answer_), answer_, {node_errc::undecodable, "broken"}));
  EXPECT_TRUE(has_mail()) << "the asker waits for something";
  ASSERT_TRUE(delivery_.give_up(route(plain_), plain_, {node_errc::undecodable, "broken"}));
  EXPECT_EQ(link_->said.size(), 1u) << "nobody waits";
  EXPECT_EQ(undecodable_, 3u);
}

TEST_F(last_step, a_violation_is_nobodys_answer) {
  const auto ended = delivery_.give_up(route(request_), request_, {node_errc::protocol_violation, "liar"});
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().message(), "liar");
  EXPECT_EQ(undecodable_, 0u);
  EXPECT_TRUE(link_->said.empty());
}

TEST_F(last_step, exit_messages_come_where_the_hello_allows_them) {
  EXPECT_FALSE(deliver_text(plain_, message_kind::exit));
  delivery allowing{ends_, system_, true, {undelivered_, undecodable_}, warnings_};
  EXPECT_TRUE(allowing.admit_exit(plain_));
  EXPECT_FALSE(allowing.admit_exit(request_));
  EXPECT_FALSE(allowing.admit_exit(answer_));
}

TEST_F(last_step, nobody_ends_an_actor_that_serves_all_links) {
  delivery allowing{ends_, system_, true, {undelivered_, undecodable_}, warnings_};
  ends_.server = ends_.ends.receiver;
  auto& to = route(plain_);
  message_under_construction built{text_, {}};
  ASSERT_NE(built.construct_next(), nullptr);
  EXPECT_TRUE(allowing.deliver(to, plain_, message_kind::exit, std::move(built)));
  EXPECT_TRUE(allowing.refuses_bare_error(to, plain_, message_kind::error));
  EXPECT_EQ(undelivered_, 2u);
  EXPECT_FALSE(has_mail());
}

TEST_F(last_step, an_error_that_answers_nothing_is_not_delivered) {
  ASSERT_TRUE(deliver_text(plain_, message_kind::error));
  EXPECT_TRUE(link_->said.empty());
  ASSERT_TRUE(deliver_text(request_, message_kind::error));
  EXPECT_EQ(link_->said, std::vector<std::string>{"send 7 answer"}) << "it cannot be asked";
  EXPECT_FALSE(has_mail());
  EXPECT_EQ(undelivered_, 2u);
  ASSERT_TRUE(deliver_text(answer_, message_kind::error));
  EXPECT_TRUE(has_mail());
}

TEST_F(last_step, an_actor_that_may_be_ended_gets_bare_errors) {
  delivery allowing{ends_, system_, true, {undelivered_, undecodable_}, warnings_};
  auto& to = route(plain_);
  EXPECT_FALSE(allowing.refuses_bare_error(to, plain_, message_kind::error));
}

TEST_F(last_step, what_is_for_an_actor_of_a_third_node_goes_on) {
  ends_.ends.receiver = proxy_of(9);
  const auto& to = route(plain_);
  ASSERT_NE(to.way_on(), nullptr);
  EXPECT_EQ(to.way_on()->number(), 9u);
  receipt owed;
  EXPECT_TRUE(delivery_.forward(to, plain_, {}, owed));
  link_->forwards = false;
  EXPECT_FALSE(delivery_.forward(to, plain_, {}, owed));
  ASSERT_TRUE(deliver_text(plain_));
  EXPECT_EQ(link_->said, (std::vector<std::string>{"forward 9", "forward 9", "pass on 9"}));
}

TEST_F(last_step, a_value_goes_into_the_mailbox_as_it_is) {
  delivery_.deliver(route(plain_), plain_, caf::make_message(std::string{"tea"}), {});
  receiver_->receive([](const std::string& text) { EXPECT_EQ(text, "tea"); });
}

} // namespace
} // namespace troupe::internal
