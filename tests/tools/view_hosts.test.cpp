// Goal: `troupe view` shows the members of a cluster on several hosts, and says of each that it cannot ask what to do.
// Method: two hosts in namespaces, with a cable between them that is cut and mended; the directory is an etcd beside
// the view.
#include "../cluster/chaos/chaos_hosts.hpp"
#include "../cluster/etcd_server.hpp"
#include "../eventually.hpp"
#include "../gateway/raw_client.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

namespace troupe::tests {

namespace {

using namespace std::chrono_literals;

const std::string secret = "0123456789abcdef0123456789abcdef";

class view_of_hosts : public testing::Test {
protected:
  void SetUp() override {
    if (!etcd_server::is_there())
      GTEST_SKIP() << "there is no etcd; see cmake/unpack-etcd";
    static const auto reason = permit_hosts(); // Before this process has a second thread.
    if (!reason.empty())
      GTEST_SKIP() << reason;
    try {
      hosts_.emplace(std::vector<std::string>{"here", "there"});
    } catch (const std::runtime_error& why) {
      GTEST_SKIP() << why.what();
    }
    auto& here = hosts_->at("here");
    etcd_.emplace(etcd_server_options{
        .places = {{.address = hosts_->address("here"),
                    .start = [&](std::vector<std::string> words) { return here.start(std::move(words)); },
                    .run = [&](std::vector<std::string> words) { here.run(std::move(words)); },
                    .within = [this](const std::function<void()>& call) { hosts_->within("here", call); }}}});
    directory_ = etcd_->address("shop");
  }

  void join(const std::string& host, const std::string& name, const std::string& listen, bool reports) {
    std::vector<std::string> words{TROUPE_VIEW_MEMBER, name, directory_, listen};
    if (reports)
      words.emplace_back("reports");
    members_.push_back(hosts_->at(host).start(std::move(words)));
    const auto said = members_.back().channel().read_line(patience);
    ASSERT_TRUE(said) << name;
    ASSERT_EQ(*said, "ready") << name;
  }
  [[nodiscard]] std::string tcp(const std::string& host) const { return "tcp://" + hosts_->address(host) + ":0"; }

  /// The command, on the host "here".
  void look(const std::vector<std::string>& arguments) {
    std::vector<std::string> words{TROUPE_PROGRAM, "view", "--directory", directory_};
    words.insert(words.end(), arguments.begin(), arguments.end());
    view_ = std::make_unique<processes::process>(hosts_->at("here").start(std::move(words)));
    for (auto line = view_->channel().read_line(patience); line; line = view_->channel().read_line(patience)) {
      if (line->starts_with("view "))
        std::from_chars(line->data() + line->rfind(':') + 1, line->data() + line->size(), port_);
      if (line->starts_with("token "))
        token_ = line->substr(7);
      if (line->starts_with("Open "))
        return;
    }
    FAIL() << "the view does not begin";
  }
  [[nodiscard]] nlohmann::json state() {
    std::string body;
    hosts_->within("here", [&] {
      raw_client client{port_};
      client.send("GET /view/state HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port_) + "\r\nAuthorization: Bearer "
                  + token_ + "\r\n\r\n");
      body = client.answer().body;
    });
    return nlohmann::json::parse(body, nullptr, false);
  }
  /// Looks until the nodes have these states, by name.
  [[nodiscard]] bool becomes(const std::map<std::string, std::string>& wanted) {
    return eventually(
        [&] {
          last_ = state();
          std::multimap<std::string, std::string> now;
          for (const auto& each : last_["nodes"])
            now.emplace(each["name"], each["state"]);
          return now == std::multimap<std::string, std::string>(wanted.begin(), wanted.end());
        },
        patience);
  }
  [[nodiscard]] std::string problem_of_node(const std::string& name) {
    for (const auto& each : last_["nodes"])
      if (each["name"] == name)
        return each["problem"];
    return "no such node";
  }
  [[nodiscard]] std::string problem_of_member(const std::string& name) {
    for (const auto& each : last_["cluster"]["members"])
      if (each["name"] == name)
        return each["problem"];
    return "no such member";
  }

  std::optional<chaos_hosts> hosts_;
  std::optional<etcd_server> etcd_;
  std::string directory_;
  std::vector<processes::process> members_;
  std::unique_ptr<processes::process> view_;
  std::uint16_t port_ = 0;
  std::string token_;
  nlohmann::json last_;
};

/// A file that holds the members' secret.
class secret_file {
public:
  secret_file() {
    std::ofstream(path_) << secret << '\n';
    std::filesystem::permissions(path_, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  }
  secret_file(const secret_file&) = delete;
  secret_file& operator=(const secret_file&) = delete;
  ~secret_file() { std::filesystem::remove(path_); }
  [[nodiscard]] const std::string& path() const { return path_; }

private:
  // Each host has a /tmp of its own, and all see the build tree.
  const std::string path_ = std::string{TROUPE_SCRATCH} + "/view-secret-" + std::to_string(::getpid());
};

TEST_F(view_of_hosts, shows_the_members_of_both_hosts_and_why_some_tell_nothing) {
  join("here", "near", tcp("here"), false); // Asked over its local address.
  join("there", "open", tcp("there"), true);
  join("there", "shy", tcp("there"), false);
  join("there", "apart", "unix://@apart", true);
  const secret_file known;
  look({"--secret-file", known.path()});
  ASSERT_TRUE(becomes({{"near", "open"}, {"open", "open"}, {"shy", "silent"}})) << last_;
  EXPECT_EQ(last_["cluster"]["members"].size(), 4U) << last_;
  EXPECT_EQ(problem_of_member("near"), "");
  EXPECT_EQ(problem_of_member("open"), "");
  EXPECT_NE(problem_of_node("shy").find("allow_report"), std::string::npos) << problem_of_node("shy");
  EXPECT_EQ(problem_of_member("shy"), problem_of_node("shy"));
  EXPECT_NE(problem_of_member("apart").find("run `troupe view` on its host"), std::string::npos)
      << problem_of_member("apart");
}

TEST_F(view_of_hosts, says_that_a_host_does_not_answer_and_shows_it_again_when_it_does) {
  join("there", "open", tcp("there"), true);
  const secret_file known;
  look({"--secret-file", known.path()});
  ASSERT_TRUE(becomes({{"open", "open"}})) << last_;
  hosts_->cut("here", "there");
  ASSERT_TRUE(becomes({{"open", "silent"}})) << last_;
  EXPECT_NE(problem_of_node("open").find("Is its host up"), std::string::npos) << problem_of_node("open");
  EXPECT_EQ(last_["nodes"].at(0)["process"].get<int>() > 0, true) << "its last figures stay";
  hosts_->mend("here", "there");
  EXPECT_TRUE(becomes({{"open", "open"}})) << last_;
}

TEST_F(view_of_hosts, asks_for_the_credentials_that_it_lacks) {
  join("here", "near", tcp("here"), false);
  join("there", "open", tcp("there"), true);
  look({});
  ASSERT_TRUE(becomes({{"near", "open"}, {"open", "silent"}})) << last_;
  EXPECT_NE(problem_of_node("open").find("--secret-file"), std::string::npos) << problem_of_node("open");
}

} // namespace

} // namespace troupe::tests
