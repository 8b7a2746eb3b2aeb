#include "nodes/command.hpp"

#include "arguments.hpp"
#include "nodes/client.hpp"
#include "nodes/reports.hpp"
#include "text.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <ostream>
#include <string>
#include <thread>
#include <vector>

namespace troupe::tools {

namespace {

using json = nlohmann::ordered_json;

/// The options of the three commands.
struct nodes_request {
  std::vector<std::string> addresses;
  access by;
  std::size_t count = 5;
  double interval_seconds = 0.2;
  bool json = false;
};

[[nodiscard]] std::string document_text(const json& document) {
  return document.dump(2, ' ', false, json::error_handler_t::replace) + '\n';
}

/// Streams for the results and the errors, and the exit status.
struct nodes_answer {
  std::ostream& out;
  std::ostream& err;
  int& status;

  void fail(const std::string& why, int with = 1) {
    err << printable("troupe: " + why) << '\n';
    status = with;
  }
  /// For commands that ask a single node.
  void fail(const std::string& address, const std::string& how, const node_error& why, bool as_json) {
    if (as_json) {
      asked_node failed;
      failed.where.address = address;
      failed.report = std::unexpected{why};
      out << document_text(document_of(failed));
    }
    fail(address + how + why.message(), status_of(why));
  }
};

void show_links(const nodes_request& asked, nodes_answer to) {
  const auto nodes = nodes_at(asked.addresses);
  if (!nodes)
    return to.fail(nodes.error().message());
  const auto known = reports_of(*nodes, {}, asked.by);
  to.status = status_of(known);
  if (!asked.json) {
    to.out << printable(text_of(known));
    return;
  }
  auto list = json::array();
  for (const auto& each : known)
    list.push_back(document_of(each));
  to.out << document_text(list);
}

void show_types(const nodes_request& asked, nodes_answer to) {
  const auto known = reports_of({{asked.addresses.front(), 0}}, {.links = false, .types = true}, asked.by).front();
  if (!known.report)
    return to.fail(asked.addresses.front(), " does not answer: ", known.report.error(), asked.json);
  if (asked.json)
    to.out << document_text(
        {{"name", known.report->name}, {"families", known.report->families}, {"contract", known.report->contract}});
  else
    to.out << printable(known.report->contract);
}

/// Requires: `taken` is not empty. The times are in milliseconds.
[[nodiscard]] std::string text_of_trips(std::vector<double> taken) {
  std::ranges::sort(taken);
  return fmt::format("{} round trips: min {:.3f} ms, median {:.3f} ms, max {:.3f} ms\n", taken.size(), taken.front(),
                     taken[taken.size() / 2], taken.back());
}

void ping(const nodes_request& asked, nodes_answer to) {
  const auto& address = asked.addresses.front();
  client one{asked.by};
  const auto begun = std::chrono::steady_clock::now();
  auto link = one.connect(address);
  if (!link)
    return to.fail(address, " does not answer: ", link.error(), asked.json);
  const auto milliseconds = [](std::chrono::nanoseconds time) {
    return std::chrono::duration<double, std::milli>(time).count();
  };
  const auto connecting = milliseconds(std::chrono::steady_clock::now() - begun);
  if (!asked.json)
    to.out << printable(
        fmt::format("{} is node \"{}\"; connected in {:.3f} ms\n", address, link->peer_name(), connecting))
           << std::flush;
  std::vector<double> taken;
  for (std::size_t i = 0; i < asked.count; ++i) {
    if (i > 0)
      std::this_thread::sleep_for(std::chrono::duration<double>(asked.interval_seconds));
    const auto trip = link->ping(one.timeout());
    if (!trip)
      return to.fail(address, " does not answer any more: ", trip.error(), asked.json);
    taken.push_back(milliseconds(*trip));
    if (!asked.json)
      to.out << fmt::format("answer {}: {:.3f} ms\n", i + 1, taken.back()) << std::flush;
  }
  if (asked.json)
    to.out << document_text(
        {{"address", address}, {"name", link->peer_name()}, {"connect_ms", connecting}, {"round_trips_ms", taken}});
  else
    to.out << text_of_trips(std::move(taken));
}

CLI::App* add_command(CLI::App& app, const char* name, const char* what, const std::shared_ptr<nodes_request>& asked,
                      nodes_answer to, void (*run)(const nodes_request&, nodes_answer)) {
  auto* const command = app.add_subcommand(name, what);
  add_access(*command, asked->by);
  command->add_flag("--json", asked->json, "One JSON document instead of text");
  command->callback([asked, to, run] { run(*asked, to); });
  return command;
}

} // namespace

void add_links_command(CLI::App& app, std::ostream& out, std::ostream& err, int& status) {
  auto asked = std::make_shared<nodes_request>();
  add_command(app, "links",
              "Shows the links of nodes and their traffic. Without an address, it shows all nodes of this user on "
              "this host. The links to given addresses must allow reports (allow_report)",
              asked, {out, err, status}, show_links)
      ->add_option("address", asked->addresses, "Addresses of nodes");
}

void add_ping_command(CLI::App& app, std::ostream& out, std::ostream& err, int& status) {
  auto asked = std::make_shared<nodes_request>();
  auto* const command = add_command(app, "ping", "Connects to a node and measures round trips to its I/O thread", asked,
                                    {out, err, status}, ping);
  command->add_option("address", asked->addresses, "Address of the node")->required()->expected(1);
  command->add_option("-c,--count", asked->count, "Number of round trips")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command->add_option("--interval", asked->interval_seconds, "Seconds between two round trips")
      ->check(is_within(0, 3600))
      ->capture_default_str();
}

void add_types_command(CLI::App& app, std::ostream& out, std::ostream& err, int& status) {
  auto asked = std::make_shared<nodes_request>();
  add_command(app, "types",
              "Prints the types and functions that a node knows, in the form that `troupe contract check` reads. "
              "The node's link must allow reports (allow_report)",
              asked, {out, err, status}, show_types)
      ->add_option("address", asked->addresses, "Address of the node")
      ->required()
      ->expected(1);
}

} // namespace troupe::tools
