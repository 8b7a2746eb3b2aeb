#include "view/command.hpp"

#include "arguments.hpp"
#include "end_signals.hpp"
#include "nodes/client.hpp"
#include "text.hpp"
#include "view/members.hpp"
#include "view/one_token.hpp"
#include "view/watched_nodes.hpp"

#include <troupe/framework/gateway/gateway.hpp>
#include <troupe/framework/log.hpp>

#include <CLI/CLI.hpp>

#include <cstdlib>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace troupe::tools {

namespace {

/// The command's options.
struct view_request {
  std::vector<std::string> addresses;
  access by;
  directory_choice directory;
  std::uint16_t port = 0;
  std::string token_file;
  bool allow_actions = false;

  view_request() { by.timeout_seconds = 1; } // A slow node must not delay the view of the others.
};

/// The first address that is none, with the reason. A node that does not answer now may do so later.
std::optional<std::string> bad_address(client& one, const std::vector<std::string>& addresses) {
  std::vector<std::optional<std::string>> problems(addresses.size());
  ask_each(addresses.size(), [&](std::size_t i) {
    auto connected = one.connect(addresses[i]);
    if (connected)
      connected->close();
    else if (connected.error().code() == node_errc::bad_address)
      problems[i] = addresses[i] + " was not asked: " + connected.error().message();
  });
  for (auto& each : problems)
    if (each)
      return std::move(each);
  return std::nullopt;
}

void serve(const view_request& asked, std::ostream& out, std::ostream& err, int& status) {
  const auto fail = [&](const std::string& why, int with = 1) {
    err << printable("troupe: " + why) << '\n';
    status = with;
  };
  const end_signals signals; // Before any thread begins.
  std::optional<one_token> made;
  if (asked.token_file.empty())
    made.emplace(asked.allow_actions ? "view act" : "view");
  client one{asked.by};
  auto own = one.own();
  if (!own)
    return fail(own.error().message());
  if (const auto problem = bad_address(one, asked.addresses))
    return fail(*problem, 2);
  if (std::getenv("TROUPE_LOG") == nullptr)
    set_log_threshold(log_level::warning); // Orders are logged at this level.
  gateway_options terms{.address = "127.0.0.1:" + std::to_string(asked.port),
                        .token_file = made ? made->file() : asked.token_file};
  terms.connections_per_address_max = terms.connections_max; // All viewers are on this host.
  auto opened = gateway::open(own->get(), terms);
  if (!opened)
    return fail(opened.error().message());
  watched_nodes::settings shown{.addresses = asked.addresses, .takes_orders = asked.allow_actions};
  if (!asked.directory.address.empty()) {
    auto cluster = members::open(asked.directory);
    if (!cluster)
      return fail(cluster.error(), 2);
    shown.cluster = *std::move(cluster);
  }
  opened->serve_view(std::make_shared<watched_nodes>(one, std::move(shown)));
  out << "view   " << opened->url() << "/view\n";
  if (made)
    out << "token  " << made->token() << '\n';
  out << "Open the address in a browser on this host" << (made ? ", and type the token" : "")
      << ". Ctrl-C ends the view.\n"
      << std::flush;
  signals.wait();
}

} // namespace

void add_view_command(CLI::App& app, std::ostream& out, std::ostream& err, int& status) {
  auto asked = std::make_shared<view_request>();
  auto* const view = app.add_subcommand(
      "view", "Serves a web page on this host that shows nodes live: a graph of their links, traffic, queues, "
              "latencies, and what the stores keep. Without an address, it shows all nodes of this user on this host. "
              "The links to given addresses must allow reports (allow_report) and memory_summary "
              "(allow_memory_summary)");
  view->add_option("address", asked->addresses, "Addresses of nodes");
  view->add_option("--port", asked->port, "Port on the loopback interface; 0: the system chooses one")
      ->check(is_whole_within(0, 65'535))
      ->capture_default_str();
  view->add_option("--token-file", asked->token_file,
                   "A token file of the gateway, closed to other users. Default: one new token, which is printed")
      ->check(CLI::ExistingFile)
      ->option_text("FILE");
  view->add_flag("--allow-actions", asked->allow_actions,
                 "The page can close links, change their families and compression, and free out-of-band pins. The "
                 "printed token allows it");
  add_directory_choice(*view, asked->directory);
  add_access(*view, asked->by);
  view->callback([asked, &out, &err, &status] { serve(*asked, out, err, status); });
}

} // namespace troupe::tools
