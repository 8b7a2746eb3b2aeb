// Directories of kind dns://, with a DNS server that answers well and badly.
#include "fake_dns_server.hpp"

#include <troupe/framework/cluster/internal/dns/dns_address.hpp>
#include <troupe/framework/cluster/internal/dns/dns_directory.hpp>
#include <troupe/framework/cluster/internal/dns/dns_source.hpp>
#include <troupe/framework/cluster/internal/watching/wake_descriptor.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../../eventually.hpp"

namespace troupe::tests {

namespace {

using namespace std::chrono_literals;
using cluster_directories::dns_source;
using cluster_directories::open_dns_directory;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class dns_directory_test : public ::testing::Test {
protected:
  [[nodiscard]] directory_options options(std::chrono::milliseconds timeout = 3s) {
    return {
        .timeout = timeout, .name_servers = server_.address(), .on_trouble = [this](const directory_error& trouble) {
          const std::lock_guard guard{mutex_};
          troubles_.push_back(trouble.message());
        }};
  }
  [[nodiscard]] std::shared_ptr<directory> open(const std::string& rest, const std::string& scheme = "tcp") {
    auto opened = open_dns_directory(rest, scheme, options());
    if (!opened)
      throw std::runtime_error{opened.error().message()};
    return *std::move(opened);
  }
  [[nodiscard]] static std::vector<std::string> members_of(directory& of) {
    std::vector<std::string> members;
    const auto listing = of.list("members/").value();
    for (const auto& entry : listing.entries)
      members.push_back(entry.key.substr(8));
    return members;
  }
  [[nodiscard]] std::string last_trouble() {
    const std::lock_guard guard{mutex_};
    return troubles_.empty() ? "" : troubles_.back();
  }
  /// One look at "shop.test:4000".
  [[nodiscard]] dns_source source(std::chrono::milliseconds timeout = 3s, std::chrono::milliseconds outage_max = 5min) {
    return dns_source{{.address = {.name = "shop.test", .port = 4000},
                       .name_servers = server_.address(),
                       .timeout = timeout,
                       .outage_max = outage_max}};
  }
  [[nodiscard]] auto look(dns_source& at) { return at.look(stops_.number()); }

  fake_dns_server server_;
  cluster_directories::wake_descriptor stops_;

private:
  std::mutex mutex_;
  std::vector<std::string> troubles_; // Guarded by mutex_.
};

TEST_F(dns_directory_test, address_records_and_the_port_make_members_of_the_scheme) {
  server_.set_addresses("shop.test", {"10.0.0.5", "10.0.0.6"});
  server_.set("shop.test", 28,
              {.count = 1, .records = dns_bytes{}.record("shop.test", 28, 1, std::string(15, '\0') + '\x05').text()});
  EXPECT_THAT(members_of(*open("shop.test:4000")),
              ElementsAre("tcp://10.0.0.5:4000", "tcp://10.0.0.6:4000", "tcp://[::5]:4000"));
  const auto by_tls = open("shop.test:4000", "tls");
  EXPECT_THAT(members_of(*by_tls), ElementsAre("tls://10.0.0.5:4000", "tls://10.0.0.6:4000", "tls://[::5]:4000"));
  EXPECT_EQ(by_tls->shown_address(), "dns+tls://shop.test:4000");
  const auto entry = by_tls->list("members/tls://10.0.0.5").value().entries.at(0);
  EXPECT_EQ(entry.value, R"({"addresses":["tls://10.0.0.5:4000"]})");
}

TEST_F(dns_directory_test, service_records_keep_the_targets_names_and_their_ports) {
  server_.set_services("_shop._tcp.test", {{"a.shop.test", 4000}, {"b.shop.test", 4001}});
  EXPECT_THAT(members_of(*open("_shop._tcp.test")), ElementsAre("tcp://a.shop.test:4000", "tcp://b.shop.test:4001"));
}

TEST_F(dns_directory_test, targets_of_service_records_are_looked_up_by_the_same_servers) {
  server_.set_services("_shop._tcp.test", {{"a.shop.test", 4000}, {"b.shop.test", 4001}, {"c.shop.test", 4002}});
  server_.set_addresses("a.shop.test", {"10.0.0.5"});
  server_.set("b.shop.test", 28,
              {.count = 1, .records = dns_bytes{}.record("b.shop.test", 28, 1, std::string(15, '\0') + '\x05').text()});
  const auto opened = open("_shop._tcp.test");
  EXPECT_THAT(members_of(*opened), ElementsAre("tcp://10.0.0.5:4000", "tcp://[::5]:4001", "tcp://c.shop.test:4002"));
  server_.set("a.shop.test", 1, {.rcode = 2}); // Fails: the last address stays.
  server_.set_addresses("c.shop.test", {"10.0.0.7"});
  EXPECT_TRUE(eventually([&] {
    return members_of(*opened)
           == std::vector<std::string>{"tcp://10.0.0.5:4000", "tcp://10.0.0.7:4002", "tcp://[::5]:4001"};
  }));
}

// Method: as many targets as possible, of which only some are asked for at the same time.
TEST_F(dns_directory_test, many_targets_are_looked_up_in_time) {
  std::vector<std::pair<std::string, unsigned>> targets;
  for (unsigned each = 0; each < 200; ++each) {
    targets.emplace_back("host-" + std::to_string(each) + ".test", 4'000 + each);
    server_.set_addresses(targets.back().first, {"10.0.1." + std::to_string(each)});
  }
  server_.set_services("_shop._tcp.test", targets);
  const auto members = members_of(*open("_shop._tcp.test"));
  EXPECT_EQ(members.size(), 200u);
  EXPECT_TRUE(std::ranges::all_of(members, [](const auto& each) { return each.starts_with("tcp://10.0.1."); }));
}

TEST_F(dns_directory_test, targets_that_are_no_host_are_left_out) {
  server_.set_services("_shop._tcp.test",
                       {{"", 4000}, {"a\n.test", 1}, {"good.test", 4000}, {"good.test", 0}, {"quote\".test", 4000}});
  EXPECT_THAT(members_of(*open("_shop._tcp.test")), ElementsAre("tcp://good.test:4000"));
}

TEST_F(dns_directory_test, a_name_that_does_not_exist_is_an_empty_list_until_it_does) {
  const auto opened = open("shop.test:4000");
  EXPECT_THAT(members_of(*opened), IsEmpty());
  server_.set_addresses("shop.test", {"10.0.0.5"});
  EXPECT_TRUE(eventually([&] { return members_of(*opened).size() == 1; }));
}

TEST_F(dns_directory_test, no_answer_in_time_is_unavailable_and_close_ends_a_lookup_at_once) {
  server_.set_all_silent(true);
  const auto begin = std::chrono::steady_clock::now();
  const auto opened = open_dns_directory("shop.test:4000", "tcp", options(300ms));
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code(), directory_errc::unavailable);
  EXPECT_THAT(opened.error().message(), HasSubstr("no name server has answered in time"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 3s);

  server_.set_all_silent(false);
  server_.set_addresses("shop.test", {"10.0.0.5"});
  const auto good = open_dns_directory("shop.test:4000", "tcp", options(1min)).value();
  const auto asked = server_.questions();
  server_.set_all_silent(true);
  ASSERT_TRUE(eventually([&] { return server_.questions() > asked; })); // The next lookup waits for an answer.
  const auto closing = std::chrono::steady_clock::now();
  good->close();
  EXPECT_LT(std::chrono::steady_clock::now() - closing, 5s);
}

TEST_F(dns_directory_test, a_failed_lookup_keeps_the_last_list_and_tells_why) {
  server_.set_addresses("shop.test", {"10.0.0.5"});
  const auto opened = open("shop.test:4000");
  server_.set("shop.test", 1, {.rcode = 2});
  EXPECT_TRUE(eventually([&] { return last_trouble().find("the last list of members stays") != std::string::npos; }));
  EXPECT_THAT(members_of(*opened), ElementsAre("tcp://10.0.0.5:4000"));
  server_.set_addresses("shop.test", {"10.0.0.6"});
  EXPECT_TRUE(eventually([&] { return members_of(*opened) == std::vector<std::string>{"tcp://10.0.0.6:4000"}; }));
}

TEST_F(dns_directory_test, an_outage_that_is_too_long_empties_the_list) {
  server_.set_addresses("shop.test", {"10.0.0.5"});
  auto brief = source(3s, 0ms);
  EXPECT_EQ(look(brief).members->size(), 1u);
  server_.set("shop.test", 1, {.rcode = 2});
  const auto found = look(brief);
  ASSERT_TRUE(found.members);
  EXPECT_THAT(*found.members, IsEmpty());
  EXPECT_THAT(found.trouble.value().message(), HasSubstr("is empty now"));
}

TEST_F(dns_directory_test, the_pause_is_the_time_to_live_between_one_second_and_thirty) {
  auto patient = source();
  for (const auto& [ttl_s, pause] : std::vector<std::pair<std::uint32_t, std::chrono::milliseconds>>{
           {0, 1s}, {7, 7s}, {31, 30s}, {0xffffffff, 1s}}) {
    server_.set_addresses("shop.test", {"10.0.0.5"}, ttl_s);
    EXPECT_EQ(look(patient).pause, pause) << ttl_s;
  }
}

TEST_F(dns_directory_test, if_one_family_fails_its_last_addresses_do_not_vanish) {
  server_.set_addresses("shop.test", {"10.0.0.5"});
  auto both = source();
  EXPECT_EQ(look(both).members->size(), 1u);
  server_.set("shop.test", 28, {.rcode = 2});
  EXPECT_EQ(look(both).members->size(), 1u) << "there were none of the family that fails";
  server_.set("shop.test", 28,
              {.count = 1, .records = dns_bytes{}.record("shop.test", 28, 1, std::string(16, '\x05')).text()});
  EXPECT_EQ(look(both).members->size(), 2u);
  server_.set("shop.test", 28, {.rcode = 2});
  EXPECT_FALSE(look(both).members);
}

TEST_F(dns_directory_test, an_answer_that_is_too_large_for_a_datagram_comes_by_tcp) {
  std::vector<std::string> addresses;
  for (int each = 0; each < 900; ++each)
    addresses.push_back("10.0." + std::to_string(each / 250) + '.' + std::to_string(each % 250));
  server_.set_addresses("shop.test", addresses);
  EXPECT_EQ(members_of(*open("shop.test:4000")).size(), 900u);
  EXPECT_GT(server_.streams(), 0);
}

// Each of these is refused as a whole and keeps the last list.
TEST_F(dns_directory_test, hostile_answers_are_refused_with_a_reason) {
  auto hostile = source(300ms);
  server_.set_addresses("shop.test", {"10.0.0.5"});
  ASSERT_TRUE(look(hostile).members);
  const auto refused = [&](const char* what, dns_response response, const char* reason = "") {
    SCOPED_TRACE(what);
    server_.set("shop.test", 1, std::move(response));
    const auto found = look(hostile);
    EXPECT_FALSE(found.members);
    EXPECT_THAT(found.trouble.value().message(), HasSubstr(reason));
  };
  const auto address = [](std::string_view owner) {
    return dns_bytes{}.record(owner, 1, 1, std::string{"\x0a\0\0\x01", 4}).text();
  };
  refused("10,000 records that are not there", {.count = 10'000, .records = address("shop.test")});
  refused("truncated", {.count = 1, .records = address("shop.test").substr(0, 12)}, "malformed or truncated");
  const auto alias = [](std::string_view owner, std::string_view target) {
    return dns_bytes{}.record(owner, 5, 1, dns_bytes{}.name(target).text()).text();
  };
  refused("a circle of aliases",
          {.count = 2, .records = alias("shop.test", "one.test") + alias("one.test", "shop.test")}, "aliases");
  refused("a name that points to itself", {.count = 1, .records = "\xc0\x1f"}, "malformed or truncated");
  refused("another question's answer", {.is_question_kept = false}, "");
  refused("no message at all", {.whole = "\x81\x80"}, "");
  std::string many;
  for (int each = 0; each < 2'000; ++each)
    many += dns_bytes{}
                .record("shop.test", 1, 1, dns_bytes{}.number_32(0x0a000000u + static_cast<unsigned>(each)).text())
                .text();
  refused("2,000 records", {.count = 2'000, .records = many}, "at most 1024");
  refused("a message of 64 KiB without end", {.count = 5'000, .records = std::string(65'000, 'x')}, "");
  refused("silence", {.is_silent = true}, "in time");
}

TEST_F(dns_directory_test, an_address_that_names_nothing_is_refused_by_name) {
  const auto code = [&](const std::string& rest) {
    const auto opened = open_dns_directory(rest, "tcp", options(100ms));
    return opened ? directory_errc::none : opened.error().code();
  };
  for (const auto* rest : {"", ":4000", "a b", "shop.test:", "shop.test:0", "shop.test:65536", "shop.test:4000x",
                           "a..b:1", ".a:1", "[::1]:4000", "_shop._tcp.test:4000", "shop.test:4000:1", "a/b"})
    EXPECT_EQ(code(rest), directory_errc::bad_address) << rest;
  EXPECT_EQ(code(std::string(254, 'a')), directory_errc::bad_address);
  auto wrong = options();
  wrong.name_servers = "nonsense";
  EXPECT_EQ(open_dns_directory("shop.test:4000", "tcp", wrong).error().code(), directory_errc::bad_address);
}

} // namespace

} // namespace troupe::tests
