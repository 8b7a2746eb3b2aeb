// The metrics endpoint, scraped over HTTP as Prometheus does it.
#include "two_nodes.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <gmock/gmock.h>

#include <troupe/framework/cluster/cluster_stats.hpp>
#include <troupe/framework/prometheus/cluster_metrics.hpp>
#include <troupe/framework/prometheus/metrics_endpoint.hpp>

namespace troupe::tests {
namespace {

using testing::HasSubstr;

/// Returns a connection to `port` at 127.0.0.1, or -1.
int dial(std::uint16_t port) {
  const auto made = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  timeval limit{.tv_sec = 10, .tv_usec = 0};
  ::setsockopt(made, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  if (::connect(made, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0)
    return made;
  ::close(made);
  return -1;
}

/// Returns the body of a successful answer. Fails the test if there is none.
std::string get(std::uint16_t port, const std::string& path = "/metrics") {
  const auto connected = dial(port);
  EXPECT_GE(connected, 0) << "nobody listens";
  const auto request = "GET " + path + " HTTP/1.0\r\nHost: localhost\r\n\r\n";
  EXPECT_EQ(::send(connected, request.data(), request.size(), MSG_NOSIGNAL), static_cast<ssize_t>(request.size()));
  std::string answer;
  char part[4096];
  for (ssize_t count; (count = ::recv(connected, part, sizeof part, 0)) > 0;)
    answer.append(part, static_cast<std::size_t>(count));
  ::close(connected);
  EXPECT_EQ(answer.substr(0, answer.find('\r')), "HTTP/1.1 200 OK");
  const auto body = answer.find("\r\n\r\n");
  return body == std::string::npos ? "" : answer.substr(body + 4);
}

/// The metrics as Prometheus reads them: one value for each series. The key is the name of the series with its labels
/// as written.
struct scrape {
  explicit scrape(std::uint16_t port) {
    std::istringstream lines{get(port)};
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words{line};
      std::string hash, what, name, type;
      if (line.starts_with("# ")) {
        words >> hash >> what >> name >> type;
        const auto is_twice = what == "TYPE" && !types.emplace(name, type).second;
        EXPECT_FALSE(is_twice) << name;
        continue;
      }
      const auto space = line.rfind(' ');
      EXPECT_NE(space, std::string::npos) << line;
      EXPECT_TRUE(series.emplace(line.substr(0, space), std::stod(line.substr(space + 1))).second) << line;
    }
  }

  /// Returns the value of the only series with this name and all these parts, or -1 if there is none or several.
  [[nodiscard]] double value(const std::string& name, const std::vector<std::string>& parts = {}) const {
    std::vector<double> found;
    for (const auto& [text, number] : series)
      if (text.substr(0, text.find('{')) == name
          && std::ranges::all_of(parts, [&](const auto& part) { return text.find(part) != std::string::npos; }))
        found.push_back(number);
    return found.size() == 1 ? found[0] : -1;
  }

  [[nodiscard]] std::size_t count_of(const std::string& name) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        series, [&](const auto& one) { return one.first.substr(0, one.first.find('{')) == name; }));
  }

  /// Returns the names of Troupe's metrics; the library adds its own.
  [[nodiscard]] std::set<std::string> names() const {
    std::set<std::string> all;
    for (const auto& [name, type] : types)
      if (name.starts_with("troupe_"))
        all.insert(name);
    return all;
  }

  std::map<std::string, double> series;
  std::map<std::string, std::string> types; // By name.
};

class metrics : public two_nodes {
protected:
  /// Sends `messages` requests over the link and waits for each answer.
  void exchange(int messages) {
    if (!link_) {
      publish("thermometer", far().system.spawn([](caf::event_based_actor*) -> caf::behavior {
        return {[](const reading& what) { return what.celsius; }};
      }));
      connect({.serializers = {"typed"}});
    }
    for (int i = 0; i < messages; ++i)
      ASSERT_EQ((ask<double>(near().system, find("thermometer"), reading{.celsius = 21.5})), 21.5);
  }

  static metrics_endpoint open(const node& of, const metrics_options& options = {}) {
    auto opened = metrics_endpoint::open(of, options);
    if (!opened)
      throw std::runtime_error(opened.error().message());
    return *std::move(opened);
  }
};

TEST_F(metrics, a_scrape_has_what_went_over_a_link) {
  exchange(7);
  ASSERT_TRUE(eventually([&] { return link_->stats().actors_imported == 0; })); // Stays unchanged from here on.
  const auto endpoint = open(*near().home);
  EXPECT_EQ(endpoint.url(), "http://127.0.0.1:" + std::to_string(endpoint.port()) + "/metrics");
  const scrape first{endpoint.port()};
  const auto number = "number=\"" + std::to_string(link_->number()) + '"';
  const auto stats = link_->stats();
  EXPECT_EQ(first.value("troupe_node_up", {R"(node="near")"}), 1);
  EXPECT_EQ(first.value("troupe_links_open"), 1);
  EXPECT_EQ(first.value("troupe_link_messages_total", {R"(link="far")", number, R"(direction="sent")"}), 7);
  EXPECT_EQ(first.value("troupe_link_messages_total", {R"(link="far")", number, R"(direction="received")"}), 7);
  EXPECT_EQ(first.value("troupe_messages_total", {R"(direction="sent")"}), 7);
  EXPECT_EQ(first.value("troupe_link_window_bytes"), static_cast<double>(stats.window_bytes));
  EXPECT_EQ(first.value("troupe_link_actors", {R"(direction="imported")"}), static_cast<double>(stats.actors_imported));
  const std::vector<std::string> sent{R"(family="typed")", R"(type="test.reading")", R"(direction="sent")"};
  EXPECT_EQ(first.value("troupe_payloads_total", sent), 7);
  ASSERT_EQ(stats.by_type.size(), 2u);
  EXPECT_EQ(first.value("troupe_payload_bytes_total", sent), static_cast<double>(stats.by_type[1].sent.bytes));
  EXPECT_GT(first.value("troupe_payload_seconds_total", sent), 0);
  EXPECT_NEAR(first.value("troupe_link_coding_seconds_total", {R"(operation="encode")"}),
              std::chrono::duration<double>(stats.encode_time).count(), 1e-9);
  exchange(3);
  caf::anon_send_exit(find("thermometer"), caf::exit_reason::kill); // A kill does not cross links.
  const scrape second{endpoint.port()};
  EXPECT_EQ(second.value("troupe_payloads_total", sent), 10);
  EXPECT_EQ(second.value("troupe_link_not_sent_total", {R"(reason="policy")"}), 1);
  EXPECT_EQ(second.value("troupe_link_not_sent_total", {R"(reason="unserializable")"}), 0);
}

TEST_F(metrics, a_link_that_has_ended_stays_in_the_nodes_totals) {
  exchange(2);
  const auto endpoint = open(*near().home);
  link_->close();
  ASSERT_TRUE(eventually([&] { return near().home->links().empty() && near().home->stats().links_open == 0; }));
  const scrape after{endpoint.port()};
  EXPECT_EQ(after.value("troupe_messages_total", {R"(direction="sent")"}), 2);
  EXPECT_EQ(after.value("troupe_links_open"), 0);
  EXPECT_EQ(after.value("troupe_links_opened_total"), 1);
  EXPECT_EQ(after.count_of("troupe_link_messages_total"), 0u);
}

TEST_F(metrics, a_counter_is_called_total_and_nothing_else_is) {
  exchange(1);
  const auto endpoint = open(*near().home);
  const scrape all{endpoint.port()};
  EXPECT_GE(all.names().size(), 40u);
  for (const auto& name : all.names())
    EXPECT_EQ(all.types.at(name), name.ends_with("_total")            ? "counter"
                                  : name.ends_with("latency_seconds") ? "histogram"
                                                                      : "gauge")
        << name;
}

// Goal: the buckets are those of a classic histogram, few, and count up.
TEST_F(metrics, latencies_have_few_buckets_that_contain_the_ones_below) {
  exchange(40);
  const auto endpoint = open(*near().home);
  const scrape all{endpoint.port()};
  const std::string trip = R"(kind="round_trip")";
  EXPECT_EQ(all.value("troupe_link_latency_seconds_count", {R"(link="far")", trip}), 32);
  EXPECT_EQ(all.value("troupe_latency_seconds_count", {trip}), 32);
  EXPECT_GT(all.value("troupe_link_latency_seconds_sum", {trip}), 0);
  std::map<double, double> buckets; // By upper bound.
  for (const auto& [text, value] : all.series)
    if (const auto at = text.find("le=\"");
        text.starts_with("troupe_link_latency_seconds_bucket") && text.contains(trip))
      buckets[std::stod(text.substr(at + 4))] = value; // stod() reads "+Inf".
  EXPECT_EQ(buckets.size(), 12u);
  EXPECT_TRUE(std::ranges::is_sorted(buckets, {}, [](const auto& each) { return each.second; }));
  EXPECT_EQ(buckets.rbegin()->second, 32);
  EXPECT_EQ(std::prev(buckets.end(), 2)->first, 10);
  EXPECT_EQ(std::prev(buckets.end(), 2)->second, 32) << "a round trip takes less than 10 s";
  EXPECT_EQ(std::ranges::count_if(all.series, [](const auto& one) { return one.first.starts_with("troupe_link_"); }),
            32 + 3 * 14)
      << "README.md counts the series of a link";
  // Kinds that have no values have no series; these are a round trip, encoding and decoding.
  EXPECT_EQ(all.count_of("troupe_link_latency_seconds_count"), 3u);
  EXPECT_EQ(all.value("troupe_link_latency_seconds_count", {R"(kind="handler")"}), -1);
}

TEST_F(metrics, latencies_of_links_beyond_a_number_are_summed) {
  exchange(2);
  auto second = near().home->connect(address_, {.serializers = {"typed"}});
  auto third = near().home->connect(address_, {.serializers = {"typed"}});
  ASSERT_TRUE(second && third);
  for (auto* more : {&*second, &*third})
    ASSERT_TRUE((ask<double>(near().system, *more->find("thermometer"), reading{})));
  const auto endpoint = open(*near().home, {.links_max = 1});
  const auto value = [&](const char* of) {
    return scrape{endpoint.port()}.value("troupe_link_latency_seconds_count", {of, R"(kind="round_trip")"});
  };
  EXPECT_EQ(value(R"(link="far")"), 2);
  EXPECT_EQ(value(R"(link="other")"), 2);
  third->close();
  ASSERT_TRUE(eventually([&] { return near().home->stats().links_open == 2; }));
  EXPECT_EQ(value(R"(link="other")"), 2) << "the sum never decreases";
}

TEST_F(metrics, there_are_no_latencies_where_details_are_off) {
  near_options_.detailed_stats = false;
  exchange(1);
  const auto endpoint = open(*near().home);
  EXPECT_FALSE(scrape{endpoint.port()}.names().contains("troupe_latency_seconds"));
}

// Goal: the README's table names every metric, and no other.
TEST_F(metrics, the_readme_lists_them) {
  exchange(1);
  const auto endpoint = open(*near().home);
  const auto scraped = scrape{endpoint.port()}.names();
  std::ifstream readme{METRICS_README};
  std::set<std::string> listed;
  for (std::string line; std::getline(readme, line);) {
    if (!line.starts_with("| `troupe_"))
      continue;
    const auto name = line.substr(3, line.find('`', 3) - 3);
    if (const auto of_both = name.find("[link_]"); of_both != std::string::npos) {
      listed.insert(std::string{name}.erase(of_both, 7));
      listed.insert(std::string{name}.replace(of_both, 7, "link_"));
    } else {
      listed.insert(name);
    }
  }
  EXPECT_EQ(scraped, listed);
}

TEST_F(metrics, of_a_cluster_are_served_as_well) {
  exchange(1);
  auto endpoint = open(*near().home);
  endpoint.add(cluster_metrics([] { return std::optional{cluster_stats{.members = 3}}; }));
  const auto text = get(endpoint.port());
  EXPECT_THAT(text, HasSubstr("\ntroupe_cluster_members 3"));
  EXPECT_THAT(text, HasSubstr("\ntroupe_links_open 1"));
}

TEST_F(metrics, names_that_peers_give_are_escaped_and_bounded) {
  far_options_.name = "evil\" \\ name\nwith\xff" + std::string(500, 'x');
  exchange(1);
  const auto endpoint = open(*near().home);
  const scrape all{endpoint.port()};
  EXPECT_EQ(all.count_of("troupe_link_window_bytes"), 1u);
  EXPECT_EQ(all.value("troupe_link_window_bytes", {R"(link="evil\" \\ name?with?xxx)"}),
            static_cast<double>(link_->stats().window_bytes));
  for (const auto& [text, value] : all.series)
    EXPECT_LT(text.size(), 300u) << text;
}

TEST_F(metrics, links_beyond_a_number_are_summed_and_never_count_backwards) {
  exchange(1);
  auto second = near().home->connect(address_, {.serializers = {"typed"}});
  auto third = near().home->connect(address_, {.serializers = {"typed"}});
  ASSERT_TRUE(second && third);
  for (auto* more : {&*second, &*third})
    ASSERT_TRUE((ask<double>(near().system, *more->find("thermometer"), reading{})));
  const auto endpoint = open(*near().home, {.links_max = 1, .types_max = 1});
  const auto other = [&](const scrape& of) {
    return of.value("troupe_link_messages_total", {R"(link="other")", R"(direction="sent")"});
  };
  const scrape before{endpoint.port()};
  EXPECT_EQ(before.count_of("troupe_link_window_bytes"), 2u);
  EXPECT_EQ(before.value("troupe_link_messages_total", {R"(link="far")", R"(direction="sent")"}), 1);
  EXPECT_EQ(other(before), 2);
  EXPECT_EQ(before.count_of("troupe_payloads_total"), 4u); // One type, and the others together.
  EXPECT_EQ(before.value("troupe_payloads_total", {R"(family="other",type="other")", R"(direction="sent")"}), 3);
  // Ends two links: one with a series of its own, and one of those that share a series.
  link_->close();
  third->close();
  ASSERT_TRUE(eventually([&] { return near().home->stats().links_open == 1; }));
  const scrape after{endpoint.port()};
  EXPECT_EQ(other(after), 2);
  EXPECT_EQ(after.count_of("troupe_link_window_bytes"), 1u);
}

TEST_F(metrics, a_busy_port_is_an_error_that_says_so_and_the_end_frees_it) {
  auto first = std::make_optional(open(*near().home));
  const auto address = "127.0.0.1:" + std::to_string(first->port());
  const auto second = metrics_endpoint::open(*near().home, {.address = address});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code(), node_errc::cannot_connect);
  EXPECT_THAT(second.error().message(),
              HasSubstr("metrics cannot be served at " + address + ": Address already in use"));
  const auto port = first->port();
  first.reset();
  EXPECT_LT(dial(port), 0);
  const auto third = metrics_endpoint::open(*near().home, {.address = address});
  ASSERT_TRUE(third) << third.error().message();
  EXPECT_EQ(third->port(), port);
}

TEST_F(metrics, addresses_that_cannot_be_read_are_refused_with_the_reason) {
  for (const auto* wrong : {"", "kitchen:9464", "127.0.0.1", "127.0.0.1:", "127.0.0.1:70000", "127.0.0.1:80x", ":80",
                            "127.0.0.1:0,0.0.0.0:0", "+80", "127.0.0.1:80s", "[::1:80", "::1:80"}) {
    const auto refused = metrics_endpoint::open(*near().home, {.address = wrong});
    ASSERT_FALSE(refused) << wrong;
    EXPECT_EQ(refused.error().code(), node_errc::bad_option) << wrong;
    EXPECT_THAT(refused.error().message(), HasSubstr("write 127.0.0.1:9464 or [::1]:9464"));
  }
  EXPECT_THAT(open(*near().home, {.address = "localhost:0"}).url(), HasSubstr("http://127.0.0.1:"));
  EXPECT_THAT(open(*near().home, {.address = "0"}).url(), HasSubstr("http://127.0.0.1:")); // Loopback by default.
}

// Goal: if no address is given, other hosts cannot connect to the endpoint.
TEST_F(metrics, only_loopback_listens_unless_told) {
  const auto endpoint = open(*near().home);
  std::ifstream sockets{"/proc/net/tcp"};
  std::ostringstream port;
  port << std::uppercase << std::hex << endpoint.port();
  std::size_t listening = 0;
  for (std::string line; std::getline(sockets, line);) {
    std::istringstream words{line};
    std::string number, local, remote, state;
    words >> number >> local >> remote >> state;
    if (state != "0A" || local.substr(local.find(':') + 1) != port.str()) // State 0A: the socket listens.
      continue;
    ++listening;
    EXPECT_EQ(local.substr(0, local.find(':')), "0100007F"); // 127.0.0.1, byte-reversed.
  }
  EXPECT_EQ(listening, 1u);
}

TEST_F(metrics, an_endpoint_outlives_its_node_and_says_that_it_is_gone) {
  exchange(1);
  const auto endpoint = open(*near().home);
  auto moved = std::make_optional(std::move(*near().home));
  EXPECT_EQ(scrape{endpoint.port()}.value("troupe_links_open"), 1); // The endpoint follows a moved node.
  link_.reset();
  near().home.reset();
  moved.reset();
  const scrape after{endpoint.port()};
  EXPECT_EQ(after.value("troupe_node_up", {R"(node="near")"}), 0);
  EXPECT_EQ(after.names().size(), 1u);
  near_.reset(); // Ends the actor system as well.
  EXPECT_EQ(scrape{endpoint.port()}.value("troupe_node_up"), 0);
}

// Goal: running scrapes neither delay the end of a node nor read anything that is gone.
TEST_F(metrics, scrapes_may_go_on_while_links_come_and_go) {
  exchange(1);
  const auto endpoint = open(*near().home);
  std::atomic<int> scrapes{0};
  std::jthread scraper{[&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      const scrape one{endpoint.port()};
      EXPECT_GE(one.value("troupe_node_up"), 0);
      ++scrapes;
    }
  }};
  for (int i = 0; i < 20 || (scrapes < 5 && i < 1'000); ++i) {
    auto more = near().home->connect(address_, {.serializers = {"typed"}});
    ASSERT_TRUE(more);
    ASSERT_TRUE((ask<double>(near().system, *more->find("thermometer"), reading{})));
    more->close();
  }
  near().home.reset();
}

} // namespace
} // namespace troupe::tests
