#include "fake_dns_server.hpp"

#include <troupe/framework/cluster/internal/dns/dns_message.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace troupe::tests {

namespace {

using cluster_directories::answer_to_question;
using cluster_directories::dns_message;
using cluster_directories::dns_type;
using ::testing::HasSubstr;

std::expected<dns_message, std::string> read(const std::string& bytes) {
  return cluster_directories::read_dns_message({reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()});
}

dns_bytes answer(unsigned count, std::string_view name = "shop.test", unsigned type = 1) {
  dns_bytes bytes;
  bytes.number_16(1).number_16(0x8180).number_16(1).number_16(count).number_32(0);
  bytes.name(name).number_16(type).number_16(1);
  return bytes;
}

const std::string ten{"\x0a\0\0\x05", 4};

TEST(dns_message_test, addresses_and_services_are_read_and_other_types_are_left_out) {
  const auto read_back =
      read(answer(4)
               .record("Shop.TEST", 1, 7, ten)
               .record("shop.test", 16, 9, "text")
               .record("shop.test", 28, 5, std::string(15, '\0') + '\x05')
               .record("shop.test", 33, 3, dns_bytes{}.number_32(0).number_16(4000).name("a.b").text())
               .text());
  ASSERT_TRUE(read_back) << read_back.error();
  EXPECT_EQ(read_back->question, "shop.test");
  ASSERT_EQ(read_back->answers.size(), 3u);
  EXPECT_EQ(read_back->answers[0].value, "10.0.0.5");
  EXPECT_EQ(read_back->answers[0].name, "shop.test");
  EXPECT_EQ(read_back->answers[0].ttl_s, 7u);
  EXPECT_EQ(read_back->answers[1].value, "[::5]");
  EXPECT_EQ(read_back->answers[2].value, "a.b");
  EXPECT_EQ(read_back->answers[2].port, 4000);
}

TEST(dns_message_test, aliases_lead_to_the_records_and_the_shortest_time_to_live_counts) {
  const auto alias = [](std::string_view target) { return dns_bytes{}.name(target).text(); };
  const auto message = read(answer(4)
                                .record("shop.test", 5, 20, alias("one.test"))
                                .record("one.test", 5, 4, alias("two.test"))
                                .record("two.test", 1, 30, ten)
                                .record("stranger.test", 1, 1, ten)
                                .text());
  ASSERT_TRUE(message) << message.error();
  const auto found = answer_to_question(*message, dns_type::a);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->records.size(), 1u);
  EXPECT_EQ(found->ttl_s, 4u);
}

TEST(dns_message_test, aliases_in_a_circle_are_an_error) {
  const auto alias = [](std::string_view target) { return dns_bytes{}.name(target).text(); };
  const auto message =
      read(answer(2).record("shop.test", 5, 20, alias("one.test")).record("one.test", 5, 4, alias("shop.test")).text());
  ASSERT_TRUE(message);
  EXPECT_THAT(answer_to_question(*message, dns_type::a).error(), HasSubstr("more than 16 aliases"));
}

TEST(dns_message_test, names_may_point_to_earlier_names_but_not_to_themselves_or_later_ones) {
  const std::string to_question{"\xc0\x0c", 2};
  const auto behind = [](const std::string& name) {
    return dns_bytes{}.raw(name).number_16(1).number_16(1).number_32(1).number_16(4).raw(ten).text();
  };
  const auto good = read(answer(1).raw(behind(to_question)).text());
  ASSERT_TRUE(good) << good.error();
  EXPECT_EQ(good->answers[0].name, "shop.test");
  const auto own_offset = answer(1).text().size();
  const auto pointer = [](std::size_t to) {
    return std::string{static_cast<char>(0xc0 | to >> 8), static_cast<char>(to & 0xff)};
  };
  EXPECT_FALSE(read(answer(1).raw(behind(pointer(own_offset))).text())) << "to itself";
  EXPECT_FALSE(read(answer(1).raw(behind(pointer(own_offset + 4))).text())) << "forwards";
  EXPECT_FALSE(read(answer(1).raw(behind(pointer(0x3fff))).text())) << "behind the end";
  EXPECT_FALSE(read(answer(1).raw(behind("\x80")).text())) << "a length that does not exist";
  std::string long_name;
  for (int each = 0; each < 5; ++each)
    long_name += '\x3f' + std::string(63, 'a');
  EXPECT_FALSE(read(answer(1).raw(behind(long_name + '\0')).text())) << "too long a name";
}

TEST(dns_message_test, a_count_that_the_bytes_do_not_hold_is_an_error) {
  EXPECT_FALSE(read(answer(10'000).record("shop.test", 1, 1, ten).text()));
  EXPECT_FALSE(read(answer(2).record("shop.test", 1, 1, ten).text()));
  EXPECT_FALSE(read(""));
  EXPECT_FALSE(read("\x01"));
  EXPECT_TRUE(read(answer(0).text()));
}

TEST(dns_message_test, an_address_of_a_wrong_length_is_left_out) {
  const auto message = read(answer(2).record("shop.test", 1, 1, "abc").record("shop.test", 28, 1, ten).text());
  ASSERT_TRUE(message);
  EXPECT_TRUE(message->answers.empty());
}

// Goal: no message leads out of its bytes or into an endless loop; run it with AddressSanitizer.
TEST(dns_message_test, any_bytes_are_read_or_refused) {
  std::mt19937 random{29};
  const auto good = answer(3)
                        .record("shop.test", 5, 20, dns_bytes{}.name("one.test").text())
                        .record("one.test", 1, 4, ten)
                        .record("one.test", 33, 4, dns_bytes{}.number_32(0).number_16(1).name("a.b").text())
                        .text();
  for (int round = 0; round < 20'000; ++round) {
    auto bytes = good.substr(0, random() % (good.size() + 1));
    for (int changes = 0; changes < 4 && !bytes.empty(); ++changes)
      bytes[random() % bytes.size()] = static_cast<char>(random() % 4 == 0 ? 0xc0 : random());
    if (const auto message = read(bytes))
      static_cast<void>(answer_to_question(*message, dns_type::a));
  }
}

} // namespace

} // namespace troupe::tests
