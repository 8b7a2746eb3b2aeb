// `troupe cluster`, beside active members.
#include "command_support.hpp"

#include "../cluster/directory_words.hpp"
#include "../cluster/host/temporary_state.hpp"
#include "../eventually.hpp"
#include "../framework/certificates.hpp"

#include <troupe/framework/cluster/cluster.hpp>

#include <caf/all.hpp>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace troupe::tests {

namespace {

constexpr auto shop = "host://shop";

[[nodiscard]] caf::behavior echo() {
  return {[](int x) { return x; }};
}

/// A node that is a member of the cluster.
struct shop_member {
  explicit shop_member(const std::string& name)
      : at({.name = name, .listen = {"unix://@troupe-cluster-" + name + own}, .store = std::nullopt}),
        in(cluster::join(at.home, {.directory = shop, .roles = {"till"}}).value()) {}

  void own_singleton(const std::string& name) {
    EXPECT_TRUE(in->singleton(name, [](caf::actor_system& system, const ownership&) { return system.spawn(echo); }));
    EXPECT_TRUE(eventually([&] { return in->stats().singletons_owned == 1; }));
  }

  program at;
  std::optional<cluster> in;
};

/// A process that is a member until it is killed. Requires: this process has no threads yet.
class member_process {
public:
  explicit member_process(const std::string& name)
      : process_(processes::process::fork([&](processes::line_channel& test) {
                   shop_member here{name};
                   EXPECT_TRUE(here.in->publish("cart", here.at.system.spawn(echo)));
                   test.write_line("joined");
                   return ::pause();
                 }).value()) {
    EXPECT_EQ(process_.channel().read_line().value(), "joined");
  }
  member_process(const member_process&) = delete;
  member_process& operator=(const member_process&) = delete;
  ~member_process() { process_.kill(); }

  void stop() { EXPECT_TRUE(process_.stop(10s)); }
  void go_on() { process_.go_on(); }
  void kill() { process_.kill(); }

private:
  processes::process process_;
};

class cluster_command : public ::testing::Test {
protected:
  /// The output of both streams.
  [[nodiscard]] static output ask(const std::string& words) { return run("cluster " + words + " --directory " + shop); }
  [[nodiscard]] static nlohmann::json ask_json(const std::string& words, int status = 0) {
    const auto answer =
        run_line("{ " TROUPE_PROGRAM " cluster " + words + " --json --directory " + shop + " 2>/dev/null; }");
    EXPECT_EQ(answer.status, status) << answer.text;
    return nlohmann::json::parse(answer.text);
  }
  /// The test's own way to the directory.
  [[nodiscard]] directory& entries() {
    if (!entries_)
      entries_ = must(open_directory(shop));
    return *entries_;
  }
  [[nodiscard]] std::uint64_t lease_of(const std::string& member) {
    return entry_of(entries(), "members/" + member).lease;
  }
  [[nodiscard]] static std::string texts_of(const nlohmann::json& findings, bool are_problems) {
    std::string text;
    for (const auto& each : findings)
      if (each["problem"] == are_problems)
        text += each["about"].get<std::string>() + ": " + each["text"].get<std::string>() + '\n';
    return text;
  }

  const temporary_state state_;
  std::shared_ptr<directory> entries_;
};

TEST_F(cluster_command, lists_members_with_their_work) {
  shop_member one{"one"};
  shop_member two{"two"};
  ASSERT_TRUE(one.in->publish("cart", one.at.system.spawn(echo)));
  one.own_singleton("clock");
  put(entries(), "kinds/user", R"({"shards":8})");
  put(entries(), "shards/user/3", "two", lease_of("two"));
  put(entries(), "shards/user/4", "two", lease_of("two"));
  const auto text = ask("members");
  EXPECT_EQ(text.status, 0);
  EXPECT_EQ(text.text, "member  state  names  singletons  shards  roles  addresses\n"
                       "one     up         1           1       0  till   unix://@troupe-cluster-one"
                           + own
                           + "\n"
                             "two     up         0           0       2  till   unix://@troupe-cluster-two"
                           + own + "\n");
  const auto list = ask_json("members");
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0]["name"], "one");
  EXPECT_EQ(list[0]["incarnation"], one.at.home.identity());
  EXPECT_EQ(list[0]["draining"], false);
  EXPECT_EQ(list[0]["drain_ordered_by"], nullptr);
  EXPECT_EQ(list[0]["names"], nlohmann::json({"cart"}));
  EXPECT_EQ(list[0]["singletons"], nlohmann::json({"clock"}));
  EXPECT_EQ(list[1]["shards"]["user"], nlohmann::json({3, 4}));
  EXPECT_EQ(ask("names").text, "name   kind       member\n"
                               "cart   name       one\n"
                               "clock  singleton  one\n");
  EXPECT_EQ(ask_json("names")[1], nlohmann::json({{"name", "clock"}, {"kind", "singleton"}, {"member", "one"}}));
  EXPECT_EQ(ask("entities").text, "kind  member  shards\n"
                                  "user  two          2\n");
  EXPECT_EQ(ask_json("entities")[0],
            nlohmann::json({{"kind", "user"}, {"member", "two"}, {"shards", nlohmann::json({3, 4})}}));
}

TEST_F(cluster_command, makes_no_directory_and_names_those_that_exist) {
  const auto nothing = run("cluster members --directory host://shop");
  EXPECT_EQ(nothing.status, 2);
  expect_contains(nothing.text, "there is no directory of kind host:// at all");
  EXPECT_FALSE(std::filesystem::exists(state_.folder()));
  must(open_directory("host://kitchen"));
  must(open_directory("host://market"));
  for (const auto* const words :
       {"members", "names", "entities", "watch --for 0", "drain one", "drain one --cancel", "doctor"}) {
    const auto mistyped = run(std::string{"cluster "} + words + " --directory host://shup");
    EXPECT_EQ(mistyped.status, 2) << words;
    expect_contains(mistyped.text, "there is no directory host://shup");
    expect_contains(mistyped.text, "there are host://kitchen, host://market");
    EXPECT_FALSE(std::filesystem::exists(state_.file("shup"))) << words;
  }
}

TEST_F(cluster_command, finds_the_directory_in_the_environment) {
  must(open_directory(shop));
  EXPECT_EQ(run_line("TROUPE_DIRECTORY=host://shop " TROUPE_PROGRAM " cluster members").text, "no members\n");
}

TEST_F(cluster_command, has_its_own_status_if_the_directory_cannot_be_asked) {
  for (const auto* const words :
       {"members", "names", "entities", "watch", "drain one", "drain one --cancel", "doctor"}) {
    const auto none = run(std::string{"cluster "} + words);
    EXPECT_EQ(none.status, 2) << words;
    expect_contains(none.text, "TROUPE_DIRECTORY");
    EXPECT_EQ(run(std::string{"cluster "} + words + " --directory nonsense://x").status, 2) << words;
    const auto away = run(std::string{"cluster "} + words + " --timeout 0.3 --directory etcd://127.0.0.1:1/shop");
    EXPECT_EQ(away.status, 2) << words;
    expect_contains(away.text, "the directory cannot be asked: ");
  }
}

TEST_F(cluster_command, takes_no_password_from_a_file_that_others_can_read) {
  const auto file = state_.path() / "password";
  std::ofstream{file} << "secret\n";
  std::filesystem::permissions(file, std::filesystem::perms{0644});
  const auto refused = ask("members --user shop --password-file " + file.string());
  EXPECT_EQ(refused.status, 2);
  expect_contains(refused.text, "chmod 600");
}

TEST_F(cluster_command, watches_until_it_is_told_to_end) {
  shop_member one{"one"};
  auto watching = processes::process::start({.program = TROUPE_PROGRAM,
                                             .words = {"troupe", "cluster", "watch", "--directory", shop},
                                             .output = processes::lines{}})
                      .value();
  expect_contains(watching.channel().read_line().value(), "member_up        one  unix://@troupe-cluster-one");
  ASSERT_TRUE(one.in->publish("cart", one.at.system.spawn(echo)));
  expect_contains(watching.channel().read_line().value(), "name_added       one  cart");
  one.own_singleton("clock");
  expect_contains(watching.channel().read_line().value(), "singleton_moved  clock to one");
  one.in.reset();
  std::string last;
  for (auto i = 0; i < 3; ++i)
    last += watching.channel().read_line().value() + '\n';
  expect_contains(last, "member_down      one");
  watching.signal(SIGINT);
  EXPECT_EQ(watching.wait().status(), 0);
}

TEST_F(cluster_command, watches_for_a_time_and_writes_a_line_of_json_for_each_event) {
  shop_member one{"one"};
  const auto answer = run_line(TROUPE_PROGRAM " cluster watch --for 0.2 --json --directory host://shop");
  EXPECT_EQ(answer.status, 0);
  const auto event = nlohmann::json::parse(answer.text);
  EXPECT_EQ(event["event"], "member_up");
  EXPECT_EQ(event["member"]["name"], "one");
  EXPECT_EQ(event["member"]["roles"], nlohmann::json({"till"}));
}

// Method: without an end of its own, so that only the failed output can end it.
TEST_F(cluster_command, stops_to_watch_when_its_output_cannot_be_written) {
  must(open_directory(shop));
  for (const auto* const members : {"none", "one"}) {
    std::optional<shop_member> one;
    if (members == std::string{"one"})
      one.emplace("one");
    const auto full =
        run_line("{ timeout 20 " TROUPE_PROGRAM " cluster watch --directory host://shop >/dev/full; } 2>&1");
    EXPECT_EQ(full.status, 1) << members;
    expect_contains(full.text, "standard output cannot be written");
  }
}

TEST_F(cluster_command, drains_a_member_and_cancels_that) {
  shop_member one{"one"};
  shop_member two{"two"};
  ASSERT_TRUE(one.in->publish("cart", one.at.system.spawn(echo)));
  one.own_singleton("clock");
  const auto drained = ask("drain one");
  EXPECT_EQ(drained.status, 0) << drained.text;
  expect_contains(drained.text, "1 name, 1 singleton left\n");
  expect_contains(drained.text, "one is drained\n");
  EXPECT_TRUE(one.in->is_draining());
  EXPECT_EQ(ask("names").text, "no names\n");
  expect_contains(ask("members").text, "one     drained");
  expect_contains(ask_json("members")[0]["drain_ordered_by"].get<std::string>(), "process ");
  EXPECT_EQ(ask_json("drain one"), nlohmann::json::parse(R"({"member":"one","drained":true,"gone":false,
                                      "left":{"names":[],"singletons":[],"shards":{}}})"));
  EXPECT_EQ(ask("drain one --cancel").text, "the order to one is cancelled\n");
  EXPECT_TRUE(eventually([&] { return one.in->stats().names_published == 1; }));
  EXPECT_FALSE(one.in->is_draining());
  EXPECT_EQ(ask_json("drain one --cancel")["cancelled"], false);
  const auto unknown = ask("drain three");
  EXPECT_EQ(unknown.status, 1);
  expect_contains(unknown.text, "no member \"three\"");
}

TEST_F(cluster_command, orders_nothing_in_a_directory_that_finds_members_only) {
  const auto file = state_.path() / "members";
  std::ofstream{file} << "tcp://127.0.0.1:1\n";
  for (const auto* const words : {"drain tcp://127.0.0.1:1", "drain tcp://127.0.0.1:1 --cancel"}) {
    const auto refused = run(std::string{"cluster "} + words + " --directory static://" + file.string());
    EXPECT_EQ(refused.status, 1) << words;
    expect_contains(refused.text, "finds members only: orders need one of kind etcd:// or host://");
  }
}

TEST_F(cluster_command, says_what_a_member_still_has_that_does_not_obey) {
  member_process stopped{"stopped"};
  stopped.stop();
  const auto waited = ask("drain stopped --wait 0.3");
  EXPECT_EQ(waited.status, 1);
  expect_contains(waited.text, "stopped is not drained after 0.3 s: 1 name left; the order stays in force");
  expect_contains(ask("members").text, "ordered to drain");
  EXPECT_EQ(ask("drain stopped --wait 0").status, 0);
  stopped.go_on();
  EXPECT_EQ(ask("drain stopped").status, 0);
}

TEST_F(cluster_command, takes_a_member_that_is_gone_for_drained_and_forgets_the_order) {
  member_process killed{"killed"};
  killed.stop();
  auto draining = processes::process::start({.program = TROUPE_PROGRAM,
                                             .words = {"troupe", "cluster", "drain", "killed", "--directory", shop},
                                             .output = processes::lines{}})
                      .value();
  expect_contains(draining.channel().read_line().value(), "has not obeyed yet: 1 name left");
  killed.kill();
  expect_contains(draining.channel().read_line().value(), "killed has left the cluster");
  EXPECT_EQ(draining.wait().status(), 0);
  EXPECT_TRUE(keys_below(entries(), "orders/").empty());
}

TEST_F(cluster_command, finds_nothing_wrong_with_members_that_reach_each_other) {
  shop_member one{"one"};
  shop_member two{"two"};
  ASSERT_TRUE(eventually([&] { return one.in->members().size() == 2 && two.in->members().size() == 2; }));
  const auto healthy = ask("doctor");
  EXPECT_EQ(healthy.status, 0) << healthy.text;
  expect_contains(healthy.text, "directory host://shop: answers in ");
  expect_contains(healthy.text, "can be written\n");
  expect_contains(healthy.text, "  unix://@troupe-cluster-one" + own + ": proven in ");
  expect_contains(healthy.text, "reaches  one  two\n"
                                "one      -    yes\n"
                                "two      yes  -\n");
  expect_contains(healthy.text, "\nnothing is wrong\n");
  const auto document = ask_json("doctor");
  EXPECT_EQ(document["healthy"], true);
  EXPECT_EQ(document["directory"]["written"], true);
  EXPECT_EQ(document["members"][0]["addresses"][0]["outcome"], "proven");
  EXPECT_EQ(document["members"][0]["account"]["reaches"][0]["reached"], true);
  EXPECT_TRUE(keys_below(entries(), "doctor/").empty());
  EXPECT_EQ(ask_json("doctor --no-write")["directory"]["written"], false);
}

TEST_F(cluster_command, finds_what_is_wrong) {
  shop_member one{"one"};
  const auto lease = must(entries().grant(60s)).id;
  const auto host = nlohmann::json::parse(entry_of(entries(), "members/one").value)["host"].get<std::string>();
  const auto member = [&](const std::string& name, const std::string& address, const std::string& rest = "") {
    put(entries(), "members/" + name,
        R"({"incarnation":")" + std::string(64, '0') + R"(","addresses":[")" + address + R"("],"host":")" + host + '"'
            + rest + '}',
        lease);
  };
  member("dead", "unix://@troupe-cluster-nobody" + own);
  member("thief", one.at.home.addresses().front());
  member("old", "tcp://127.0.0.1:1", R"(,"version":"Troupe 0.0.1")");
  put(entries(), "members/odd", "[]", lease);
  put(entries(), "singletons/clock", "nobody", lease);
  ASSERT_TRUE(eventually([&] { return one.in->members().size() == 4; }));
  const auto document = ask_json("doctor", 1);
  EXPECT_EQ(document["healthy"], false);
  const auto problems = texts_of(document["findings"], true);
  expect_contains(problems, "dead: at unix://@troupe-cluster-nobody" + own + ": ");
  expect_contains(problems, "thief: at unix://@troupe-cluster-one" + own + ": ");
  expect_contains(problems, "old: at tcp://127.0.0.1:1: cannot connect to tcp://127.0.0.1:1: Connection refused");
  expect_contains(problems, "one: it cannot reach dead: ");
  expect_contains(problems, "one: it cannot reach thief: ");
  expect_contains(problems, "one, thief: they have the same address, unix://@troupe-cluster-one" + own);
  expect_contains(problems, "the entry members/odd: it cannot be read: it is not a JSON object");
  expect_contains(problems, "the entry singletons/clock: the member nobody is not up");
  expect_contains(texts_of(document["findings"], false), "old: version Troupe 0.0.1, others have another one");
  const auto text = ask("doctor");
  EXPECT_EQ(text.status, 1);
  expect_contains(text.text, "one      NO");
  expect_contains(text.text, " problems\n");
}

TEST_F(cluster_command, proves_who_is_at_a_tcp_address_only_with_the_secret) {
  const auto write_secret = [&](const std::string& name, const std::string& secret) {
    const auto file = state_.path() / name;
    std::ofstream{file} << secret << '\n';
    std::filesystem::permissions(file, std::filesystem::perms{0600});
    return file.string();
  };
  const auto secret_file = write_secret("secret", std::string(32, 's'));
  node_options options{.name = "one", .listen = {"tcp://127.0.0.1:0"}, .store = std::nullopt};
  options.accepted_links.credentials = {.secret_file = secret_file};
  program at{options};
  const auto in = cluster::join(at.home, {.directory = shop});
  ASSERT_TRUE(in) << in.error().message();
  const auto outcome = [](const nlohmann::json& document) { return document["members"][0]["addresses"][0]["outcome"]; };
  const auto without = ask_json("doctor");
  EXPECT_EQ(outcome(without), "reachable") << without;
  EXPECT_EQ(without["members"][0]["account"], nullptr);
  const auto with = ask_json("doctor --secret-file " + secret_file);
  EXPECT_EQ(outcome(with), "proven") << with;
  EXPECT_NE(with["members"][0]["account"], nullptr);
  EXPECT_EQ(outcome(ask_json("doctor --secret-file " + write_secret("wrong", std::string(32, 'w')), 1)), "failed");
}

TEST_F(cluster_command, proves_who_is_at_a_tls_address_only_with_a_certificate_that_counts_there) {
  certificate_folder folder;
  const auto authority = folder.authority("shop");
  const auto stranger = folder.authority("stranger");
  const auto of_node = folder.issue(authority, "one", "IP:127.0.0.1");
  const auto of_command = folder.issue(authority, "operator", "DNS:operator");
  const auto of_stranger = folder.issue(stranger, "intruder", "DNS:operator");
  node_options options{.name = "one", .listen = {"tls://127.0.0.1:0"}, .store = std::nullopt};
  options.accepted_links.credentials = {.tls = {.certificate_file = of_node.certificate,
                                                .key_file = of_node.key,
                                                .authority_file = authority.certificate,
                                                .require_client_certificate = true}};
  program at{options};
  const auto in = cluster::join(at.home, {.directory = shop});
  ASSERT_TRUE(in) << in.error().message();
  const auto doctor = [](const std::string& authority_file, const certificate_files& own, int status) {
    return ask_json("doctor --tls-ca " + authority_file + " --tls-certificate " + own.certificate + " --tls-key "
                        + own.key,
                    status);
  };
  const auto tried = [](const nlohmann::json& document) { return document["members"][0]["addresses"][0]; };
  const auto without = ask_json("doctor");
  EXPECT_EQ(tried(without)["outcome"], "reachable") << without;
  const auto with = doctor(authority.certificate, of_command, 0);
  EXPECT_EQ(tried(with)["outcome"], "proven") << with;
  EXPECT_NE(with["members"][0]["account"], nullptr) << with;
  EXPECT_EQ(with["healthy"], true) << with;
  EXPECT_EQ(tried(doctor(authority.certificate, of_stranger, 1))["outcome"], "failed");
  const auto distrusted = doctor(stranger.certificate, of_command, 1);
  EXPECT_EQ(tried(distrusted)["outcome"], "failed");
  expect_contains(tried(distrusted)["text"].get<std::string>(), "certificate");
  const auto another_name =
      ask_json("doctor --tls-ca " + authority.certificate + " --tls-certificate " + of_command.certificate
                   + " --tls-key " + of_command.key + " --server-name elsewhere",
               1);
  EXPECT_EQ(tried(another_name)["outcome"], "failed");
}

TEST_F(cluster_command, shows_nothing_that_a_terminal_would_obey) {
  const auto lease = must(entries().grant(60s)).id;
  put(entries(), "members/red\x1b[31m", R"({"incarnation":"\u001b[32m","addresses":["tcp://\u001b[33m"]})", lease);
  put(entries(), "names/red\x1b[31m/\x1b[34m", "{}", lease);
  for (const auto* const words : {"members", "names", "watch --for 0.1", "doctor", "drain red --wait 0.1"})
    EXPECT_EQ(ask(words).text.find('\x1b'), std::string::npos) << words;
}

} // namespace

} // namespace troupe::tests
