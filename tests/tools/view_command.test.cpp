// `troupe view`, beside active nodes. tests/view/ has its page in a browser.
#include "../gateway/raw_client.hpp"
#include "command_support.hpp"

#include "../eventually.hpp"

#include <algorithm>
#include <charconv>
#include <csignal>
#include <fstream>
#include <memory>
#include <optional>
#include <utility>

namespace troupe::tests {

namespace {

using json = nlohmann::json;

/// The name of a node of this process: other tests have nodes on this host, too.
std::string named(const std::string& name) {
  return name + '-' + std::to_string(::getpid());
}

node_options own_options(const std::string& name) {
  auto options = options_of(name);
  options.name = named(name);
  return options;
}

/// The command, until it is told to end.
class view_process {
public:
  explicit view_process(std::vector<std::string> arguments = {})
      : process_([&] {
          arguments.insert(arguments.begin(), {"troupe", "view"});
          return processes::process::start(
                     {.program = TROUPE_PROGRAM, .words = arguments, .output = processes::lines{}})
              .value();
        }()) {
    for (auto line = process_.channel().read_line(20s); line; line = process_.channel().read_line(20s)) {
      text_ += *line + '\n';
      if (line->starts_with("view "))
        url_ = line->substr(7);
      if (line->starts_with("token "))
        token_ = line->substr(7);
      if (line->starts_with("Open "))
        break;
    }
    const auto port = url_.substr(url_.rfind(':') + 1);
    std::from_chars(port.data(), port.data() + port.size(), port_);
  }

  [[nodiscard]] http_answer get(const std::string& target, const std::string& token) const {
    raw_client client{port_};
    client.send("GET " + target + " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port_)
                + (token.empty() ? "" : "\r\nAuthorization: Bearer " + token) + "\r\n\r\n");
    return client.answer();
  }
  [[nodiscard]] json document(const std::string& target) const { return json::parse(get(target, token_).body); }
  /// The node of that name, or null.
  [[nodiscard]] json node(const std::string& name) const {
    const auto state = document("/view/state");
    for (const auto& each : state["nodes"])
      if (each["name"] == name)
        return each;
    return nullptr;
  }
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] const std::string& url() const { return url_; }
  [[nodiscard]] const std::string& token() const { return token_; }
  [[nodiscard]] int end() {
    process_.signal(SIGTERM);
    return process_.ended_within(20s).value().status();
  }

private:
  processes::process process_;
  std::string text_;
  std::string url_;
  std::string token_;
  std::uint16_t port_ = 0;
};

TEST(view_command, serves_the_page_and_the_nodes_of_this_user_to_its_own_token) {
  program hall{own_options("hall")};
  program kitchen{own_options("kitchen")};
  const auto link = kitchen.home.connect(hall.home.addresses()[0]).value();
  view_process view;
  EXPECT_TRUE(view.url().starts_with("http://127.0.0.1:")) << view.text();
  EXPECT_TRUE(view.url().ends_with("/view")) << view.text();
  EXPECT_GE(view.token().size(), 32U);
  EXPECT_EQ(view.get("/view", "").status, 200);
  EXPECT_EQ(view.get("/view/state", "").status, 401);
  EXPECT_EQ(view.get("/view/state", std::string(40, 'x')).status, 401);
  const auto shown = view.node(named("kitchen"));
  ASSERT_FALSE(shown.is_null());
  EXPECT_EQ(shown["state"], "open");
  EXPECT_EQ(shown["links"].size(), 1U) << shown; // Without that of the command.
  EXPECT_EQ(shown["links"].at(0)["peer"], named("hall"));
  const auto detail =
      view.document("/view/links/" + shown["key"].get<std::string>() + "/" + shown["links"].at(0)["number"].dump());
  EXPECT_EQ(detail["peer"], named("hall"));
  EXPECT_EQ(view.end(), 0);
}

TEST(view_command, shows_what_is_kept_in_the_stores) {
  program hall{own_options("hall")};
  const auto kept = hall.home.put(doubles(std::vector<double>(1'000))).value();
  const view_process view;
  const auto state = view.node(named("hall"));
  ASSERT_FALSE(state.is_null());
  const auto memory = view.document("/view/memory");
  EXPECT_TRUE(std::ranges::any_of(memory["summary"]["objects"], [](const auto& each) {
    return each["size_bytes"] >= 8'000;
  })) << memory;
}

TEST(view_command, shows_a_node_that_has_ended_as_lost) {
  auto hall = std::make_unique<program>(own_options("hall"));
  const view_process view;
  ASSERT_FALSE(view.node(named("hall")).is_null());
  hall.reset();
  EXPECT_TRUE(eventually([&] { return view.node(named("hall"))["state"] == "lost"; }));
  EXPECT_EQ(view.node(named("hall"))["problem"], "the process has ended");
}

TEST(view_command, shows_given_addresses_only_and_says_why_one_does_not_answer) {
  auto options = own_options("hall");
  options.accepted_links.allow_report = true;
  program hall{options};
  program kitchen{own_options("kitchen")};
  const view_process view{{hall.home.addresses()[0], "unix://@nobody-" + std::to_string(::getpid())}};
  const auto nodes = view.document("/view/state")["nodes"];
  ASSERT_EQ(nodes.size(), 2U);
  for (const auto& each : nodes) {
    EXPECT_NE(each["name"], named("kitchen"));
    EXPECT_EQ(each["state"], each["name"] == named("hall") ? "open" : "silent");
    EXPECT_EQ(each["problem"] == "", each["name"] == named("hall"));
  }
}

TEST(view_command, takes_the_tokens_of_a_file_that_nobody_else_can_read) {
  const auto path = folder() + "/tokens";
  const std::string token(32, 'k');
  std::ofstream(path) << "boss " << token << " view\n";
  ::chmod(path.c_str(), 0644);
  const auto open_to_all = run("view --token-file " + path);
  EXPECT_EQ(open_to_all.status, 1);
  expect_contains(open_to_all.text, "chmod 600");
  ::chmod(path.c_str(), 0600);
  {
    const view_process view{{"--token-file", path}};
    EXPECT_EQ(view.token(), "");
    EXPECT_EQ(view.get("/view/state", token).status, 200);
  }
  ::unlink(path.c_str());
}

TEST(view_command, refuses_what_it_cannot_do) {
  EXPECT_EQ(run("view --port 70000").status, 2);
  EXPECT_EQ(run("view --token-file /nonexistent").status, 2);
  const auto unknown = run("view --directory nonsense");
  EXPECT_EQ(unknown.status, 2);
  expect_contains(unknown.text, "nonsense");
}

} // namespace

} // namespace troupe::tests
