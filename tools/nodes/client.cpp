#include "nodes/client.hpp"

#include "arguments.hpp"

#include <troupe/framework/log.hpp>

#include <CLI/CLI.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace troupe::tools {

void add_access(CLI::App& command, access& by) {
  command.add_option("--timeout", by.timeout_seconds, "Seconds for each node's answer")
      ->check(is_within(0.001, 3600.0))
      ->capture_default_str();
  add_credentials(command, by.known_by);
}

void add_credentials(CLI::App& command, credentials& known) {
  const auto add_file = [&](const char* name, std::string& path, const char* what) {
    command.add_option(name, path, what)->check(CLI::ExistingFile)->option_text("FILE");
  };
  add_file("--secret-file", known.secret_file, "The file with the shared secret, for TCP and TLS nodes");
  add_file("--cookie-file", known.cookie_file,
           "The file with the secret of this host's TCP nodes, if it is not the default file");
  add_file("--authority", known.tls.authority_file, "The authority that signed the certificates of TLS nodes (PEM)");
  add_file("--certificate", known.tls.certificate_file,
           "The certificate of this command, if a TLS node asks for one (PEM)");
  add_file("--key", known.tls.key_file, "The key of that certificate (PEM)");
  command.add_option("--server-name", known.tls.server_name, "The name that a TLS node's certificate must contain");
}

client::client(const access& by)
    : terms_{.serializers = {"msgpack", "typed"},
             .share_store = false,
             .credentials = by.known_by,
             .connect_timeout = by.timeout()} {
  if (std::getenv("TROUPE_LOG") == nullptr)
    set_log_threshold(log_level::error); // The command itself reports once why a node does not answer.
  auto opened =
      node::open(system_, types_, families_, {.name = observer_name(), .store = std::nullopt, .local_queries = false});
  if (opened)
    node_ = *std::move(opened);
  else
    problem_ = opened.error().message();
}

std::string observer_name() {
  return "troupe command " + std::to_string(::getpid());
}

std::expected<link, node_error> client::connect(const std::string& address, const std::string& identity) {
  if (auto known = own(); !known)
    return std::unexpected{std::move(known).error()};
  auto terms = terms_;
  if (!identity.empty())
    terms.peer_identity = identity;
  return node_->connect(address, terms);
}

std::expected<std::reference_wrapper<node>, node_error> client::own() {
  if (!node_)
    return std::unexpected{node_error{node_errc::bad_option, problem_}};
  return std::ref(*node_);
}

bool is_none_of_ours(const local_node& node, const node_error& why_not) {
  if (node.process == 0)
    return false;
  if (why_not.code() == node_errc::refused)
    return true;
  if (why_not.code() != node_errc::cannot_connect)
    return false;
  const auto now = local_nodes();
  return now && std::ranges::none_of(*now, [&](const auto& each) { return each.address == node.address; });
}

std::expected<std::vector<local_node>, node_error> nodes_at(const std::vector<std::string>& addresses) {
  if (!addresses.empty()) {
    std::vector<local_node> result;
    for (const auto& each : addresses)
      result.push_back({each, 0});
    return result;
  }
  return local_nodes();
}

std::string name_of(const local_node& node) {
  return node.process == 0 ? node.address : std::to_string(node.process);
}

} // namespace troupe::tools
