// Goal: clients that do not read take no more memory than they may, and nothing from those that do.
#include "open_gateway.hpp"

#include <troupe/framework/gateway/internal/server/unread_ledger.hpp>

namespace troupe::tests {
namespace {

struct unread_ledgers : testing::Test {
  [[nodiscard]] std::unique_ptr<web::unread_ledger::account> client(const std::string& name) {
    return ledger_.open([this, name] { cut_ += name; });
  }

  web::unread_ledger ledger_{100};
  std::string cut_;
};

TEST_F(unread_ledgers, count_what_waits_until_it_is_read_or_its_client_is_gone) {
  auto one = client("one");
  auto other = client("other");
  EXPECT_TRUE(one->add(40));
  EXPECT_TRUE(other->add(60));
  EXPECT_EQ(ledger_.bytes(), 100U);
  one->subtract(10);
  EXPECT_EQ(ledger_.bytes(), 90U);
  other.reset();
  EXPECT_EQ(ledger_.bytes(), 30U);
  EXPECT_EQ(cut_, "");
}

TEST_F(unread_ledgers, cut_the_client_that_has_most_and_admit_the_others) {
  auto one = client("one ");
  auto most = client("most ");
  auto third = client("third ");
  EXPECT_TRUE(one->add(20));
  EXPECT_TRUE(most->add(50));
  EXPECT_TRUE(third->add(29));
  EXPECT_TRUE(one->add(10));
  EXPECT_EQ(cut_, "most ");
  EXPECT_EQ(ledger_.bytes(), 59U);
  EXPECT_EQ(ledger_.cut(), 1U);
  EXPECT_TRUE(most->add(500)); // It is on its way out, and counts no more.
  most->subtract(550);
  most.reset();
  EXPECT_EQ(ledger_.bytes(), 59U);
}

TEST_F(unread_ledgers, cut_as_many_as_it_takes) {
  auto one = client("one ");
  auto two = client("two ");
  auto three = client("three ");
  EXPECT_TRUE(one->add(20));
  EXPECT_TRUE(two->add(41));
  EXPECT_TRUE(three->add(39));
  EXPECT_FALSE(one->add(60)); // It would have most then.
  EXPECT_EQ(cut_, "");
  EXPECT_TRUE(one->add(18));
  EXPECT_EQ(cut_, "two ");
}

TEST_F(unread_ledgers, refuse_the_client_that_would_have_most) {
  auto one = client("one");
  auto other = client("other");
  EXPECT_TRUE(other->add(49));
  EXPECT_TRUE(one->add(50));
  EXPECT_FALSE(one->add(2));
  EXPECT_EQ(ledger_.bytes(), 99U);
  EXPECT_FALSE(other->add(101));
  EXPECT_EQ(cut_, "");
}

struct unread_answers : open_gateway {
  /// The size of the next message, which comes in several frames.
  static std::size_t message_bytes(raw_client& from) {
    std::size_t bytes = 0;
    for (auto frame = from.frame(); frame.opcode >= 0 && frame.opcode <= 1; frame = from.frame()) {
      bytes += frame.payload.size();
      if (frame.payload.ends_with('}'))
        return bytes;
    }
    return 0;
  }
  unread_answers() {
    options_.answer_bytes_max = 8_MiB;
    options_.unread_bytes_max = 12_MiB;
  }
  /// Exposes an actor that answers with so many bytes.
  void expose_well() {
    const auto well = home().system.spawn(
        []() -> caf::behavior { return {[](std::uint32_t bytes) { return std::string(bytes, 'x'); }}; });
    ASSERT_TRUE(gateway().expose("well", well));
  }
  [[nodiscard]] std::string draw(std::size_t bytes) {
    return request("POST", "/actors/well", R"({"type":"u32","value":)" + std::to_string(bytes) + "}");
  }
};

TEST_F(unread_answers, the_client_with_the_largest_answer_makes_room_for_others) {
  expose_well();
  const auto greedy = client();
  EXPECT_TRUE(greedy->send(draw(8_MiB - 100)));
  EXPECT_TRUE(eventually([&] { return gateway().stats().unread_bytes > 7_MiB; }));
  const auto second = client();
  EXPECT_TRUE(second->send(draw(7_MiB)));
  EXPECT_TRUE(eventually([&] { return gateway().stats().connections_cut == 1; }));
  EXPECT_EQ(second->answer().body.size(), 7_MiB + 25);
  EXPECT_LT(greedy->answer().body.size(), 7_MiB);
  EXPECT_TRUE(eventually([&] { return gateway().stats().unread_bytes == 0; }));
}

TEST_F(unread_answers, an_answer_that_would_be_the_largest_is_refused_until_others_are_read) {
  expose_well();
  const auto first = client();
  EXPECT_TRUE(first->send(draw(6_MiB)));
  EXPECT_TRUE(eventually([&] { return gateway().stats().unread_bytes > 5_MiB; }));
  const auto second = client();
  EXPECT_TRUE(second->send(draw(7_MiB)));
  const auto refused = second->answer();
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.head.at("retry-after"), "1");
  EXPECT_EQ(refused.body,
            R"({"error":{"code":"unread","text":"answer of 7340057 bytes: clients have not read the answers of )"
            R"(12582912 bytes that this gateway keeps for them"}})");
  EXPECT_EQ(first->answer().status, 200);
  EXPECT_TRUE(second->send(draw(7_MiB)));
  EXPECT_EQ(second->answer().status, 200);
}

TEST_F(unread_answers, the_socket_with_the_fullest_outbox_is_closed_for_others) {
  options_.answer_bytes_max = 1_MiB;
  options_.socket_outbox_bytes = options_.unread_bytes_max = 32_MiB;
  const auto greedy = socket();
  const auto second = socket();
  const auto modest = socket();
  ASSERT_TRUE(greedy && second && modest);
  const auto flood = [](raw_client& to, int count) {
    return to.send_text(R"({"message":[{"atom":"flood"},{"type":"u32","value":)" + std::to_string(count)
                        + R"(},{"type":"u32","value":500000}]})");
  };
  EXPECT_TRUE(flood(*greedy, 60)); // Some MB of it wait in the system's buffers.
  EXPECT_TRUE(eventually([&] { return gateway().stats().unread_bytes > 16_MiB; }));
  EXPECT_TRUE(flood(*second, 60));
  EXPECT_TRUE(eventually([&] { return gateway().stats().connections_cut > 0; }));
  for (int i = 0; i < 10; ++i) { // A client that reads gets everything.
    EXPECT_TRUE(flood(*modest, 1));
    EXPECT_GT(message_bytes(*modest), 500'000U);
  }
  EXPECT_LE(gateway().stats().unread_bytes, 32_MiB);
}

} // namespace
} // namespace troupe::tests
