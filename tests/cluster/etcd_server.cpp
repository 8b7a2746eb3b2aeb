#include "etcd_server.hpp"

#include "../eventually.hpp"

#include <troupe/framework/cluster/internal/etcd/http_connection.hpp>

#include <stdexcept>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <nlohmann/json.hpp>
#include <sys/socket.h>
#include <unistd.h>

namespace troupe::tests {

namespace {

using namespace std::chrono_literals;
using namespace cluster_directories;

/// Ports that nobody listens at, all different. Another process may take one before it is used.
std::vector<std::uint16_t> free_ports(std::size_t count) {
  std::vector<int> sockets;
  std::vector<std::uint16_t> ports;
  for (std::size_t each = 0; each < count; ++each) {
    const auto made = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockets.push_back(made);
    sockaddr_in place{};
    place.sin_family = AF_INET;
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(place);
    auto* const raw = reinterpret_cast<sockaddr*>(&place);
    if (made < 0 || ::bind(made, raw, size) != 0 || ::getsockname(made, raw, &size) != 0)
      throw std::runtime_error("no free port on loopback");
    ports.push_back(ntohs(place.sin_port));
  }
  for (const auto each : sockets)
    ::close(each);
  return ports;
}

std::string name_of(std::size_t member) {
  return "m" + std::to_string(member);
}

constexpr std::uint16_t client_port_of_places = 2379;
constexpr std::uint16_t peer_port_of_places = 2380;

} // namespace

bool etcd_server::is_there() {
  return ::access(ETCD_SERVER, X_OK) == 0;
}

etcd_server::etcd_server(etcd_server_options options) : options_(std::move(options)), members_(options_.members) {
  auto name = (std::filesystem::temp_directory_path() / "troupe-etcd-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr)
    throw std::runtime_error("no temporary folder for etcd");
  folder_ = name;
  if (options_.places.empty()) {
    const auto ports = free_ports(3 * members_.size());
    for (std::size_t each = 0; each < members_.size(); ++each) {
      members_[each].client_port = ports[3 * each];
      members_[each].other_client_port = ports[3 * each + 1];
      members_[each].peer_port = ports[3 * each + 2];
    }
  } else {
    members_.resize(options_.places.size());
    for (auto& each : members_) {
      each.client_port = client_port_of_places;
      each.peer_port = peer_port_of_places;
    }
  }
  for (std::size_t each = 0; each < members_.size(); ++each)
    start(each);
  wait_until_healthy();
}

etcd_server::~etcd_server() {
  for (auto& each : members_)
    if (each.process)
      each.process->kill();
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::string etcd_server::endpoint(std::size_t member) const {
  return (options_.places.empty() ? "127.0.0.1" : options_.places[member].address) + ':'
         + std::to_string(members_[member].client_port);
}

std::string etcd_server::peer_url(std::size_t member) const {
  return "http://" + (options_.places.empty() ? "127.0.0.1" : options_.places[member].address) + ':'
         + std::to_string(members_[member].peer_port);
}

std::string etcd_server::address(std::string_view prefix) const {
  std::vector<std::size_t> all;
  for (std::size_t each = 0; each < members_.size(); ++each)
    all.push_back(each);
  return address(prefix, all);
}

std::string etcd_server::address(std::string_view prefix, const std::vector<std::size_t>& members) const {
  std::string text = "etcd://";
  for (const auto each : members)
    text += (each == members.front() ? "" : ",") + endpoint(each);
  return text + '/' + std::string{prefix};
}

std::filesystem::path etcd_server::folder_of(std::size_t member) const {
  return (options_.places.empty() ? folder_ : std::filesystem::path{"/tmp"}) / ("etcd-" + name_of(member));
}

void etcd_server::start(std::size_t which) {
  auto& member = members_[which];
  const auto client_url = (has_tls() ? "https://" : "http://") + endpoint(which);
  std::string cluster;
  for (std::size_t each = 0; each < members_.size(); ++each)
    cluster += (each == 0 ? "" : ",") + name_of(each) + '=' + peer_url(each);
  std::vector<std::string> words{"--name", name_of(which), "--data-dir", folder_of(which).string(),
                                 "--listen-client-urls", client_url, "--advertise-client-urls", client_url,
                                 "--listen-peer-urls", peer_url(which), "--initial-advertise-peer-urls",
                                 peer_url(which), "--initial-cluster", cluster, "--initial-cluster-state",
                                 member.joins ? "existing" : "new", "--initial-cluster-token", folder_.filename(),
                                 // Ten times as fast as by default.
                                 "--heartbeat-interval", "20", "--election-timeout", "200"};
  if (has_tls())
    words.insert(words.end(), {"--cert-file", options_.certificate_file, "--key-file", options_.key_file});
  if (!options_.client_ca_file.empty())
    words.insert(words.end(), {"--client-cert-auth", "--trusted-ca-file", options_.client_ca_file});
  words.insert(words.end(), options_.words.begin(), options_.words.end());
  member.process = started(which, std::move(words));
  member.is_frozen = false;
}

processes::process etcd_server::started(std::size_t which, std::vector<std::string> words) const {
  if (!options_.places.empty()) {
    words.insert(words.begin(), {"sh", "-c", "exec \"$@\" >/tmp/etcd.log 2>&1", "sh", ETCD_SERVER});
    return options_.places[which].start(std::move(words));
  }
  words.insert(words.begin(), "etcd");
  auto started = processes::process::start({.program = ETCD_SERVER,
                                            .words = std::move(words),
                                            .input = processes::nothing{},
                                            .output = processes::file{folder_ / (name_of(which) + ".log")},
                                            .errors = processes::file{folder_ / (name_of(which) + ".err")}});
  if (!started)
    throw std::runtime_error("etcd does not start: " + started.error());
  return *std::move(started);
}

void etcd_server::kill(std::size_t member) {
  members_[member].process->kill();
  members_[member].process.reset();
}

void etcd_server::freeze(std::size_t member) {
  if (!members_[member].process->stop(10s))
    throw std::runtime_error("etcd does not stop");
  members_[member].is_frozen = true;
}

void etcd_server::thaw(std::size_t member) {
  members_[member].process->go_on();
  members_[member].is_frozen = false;
}

void etcd_server::wipe(std::size_t member) {
  if (!options_.places.empty())
    return options_.places[member].run({"rm", "-rf", folder_of(member).string()});
  std::filesystem::remove_all(folder_of(member));
}

void etcd_server::move(std::size_t member) {
  std::swap(members_[member].client_port, members_[member].other_client_port);
}

void etcd_server::add_again(std::size_t which) {
  const auto members = nlohmann::json::parse(post(leader(), "cluster/member/list", "{}"));
  for (const auto& each : members.at("members"))
    if (each.value("name", "") == name_of(which))
      post(leader(), "cluster/member/remove", nlohmann::json{{"ID", each.at("ID")}}.dump());
  // etcd takes no new member until the others are connected.
  const auto body = nlohmann::json{{"peerURLs", {peer_url(which)}}}.dump();
  if (!eventually([&] { return try_post(leader(), "cluster/member/add", body).has_value(); }))
    throw std::runtime_error("etcd takes no new member");
  members_[which].joins = true;
  start(which);
}

bool etcd_server::answers(std::size_t member) {
  const auto key = R"({"key":"eA=="})";
  return try_post(member, "kv/range", key).has_value();
}

void etcd_server::wait_until_healthy() {
  for (std::size_t each = 0; each < members_.size(); ++each)
    if (members_[each].process && !members_[each].is_frozen && !eventually([&] { return answers(each); }, 20s))
      throw std::runtime_error("etcd does not become healthy; its log lies in " + folder_.string());
}

std::size_t etcd_server::leader() {
  std::optional<std::size_t> found;
  const auto look = [&] {
    for (std::size_t each = 0; each < members_.size() && !found; ++each) {
      if (!members_[each].process || members_[each].is_frozen)
        continue;
      const auto status = try_post(each, "maintenance/status", "{}");
      if (!status)
        continue;
      const auto read = nlohmann::json::parse(*status);
      if (read.value("leader", "0") == read["header"].value("member_id", "1"))
        found = each;
    }
    return found.has_value();
  };
  if (!eventually(look, 20s))
    throw std::runtime_error("etcd has no leader");
  return *found;
}

bool etcd_server::compact() {
  for (std::size_t each = 0; each < members_.size(); ++each) {
    if (!members_[each].process || members_[each].is_frozen)
      continue;
    const auto read = try_post(each, "kv/range", R"({"key":"eA=="})");
    if (!read)
      continue;
    const auto revision = nlohmann::json::parse(*read).at("header").at("revision").get<std::string>();
    if (try_post(each, "kv/compaction", R"({"physical":true,"revision":")" + revision + "\"}"))
      return true;
  }
  return false;
}

std::optional<std::string> etcd_server::try_post(std::size_t member, std::string_view path, std::string_view body,
                                                 std::string_view token) {
  if (const auto ready = prepare_curl(); !ready)
    throw std::runtime_error(ready.error().message());
  auto connection = http_connection::make({.ca_file = options_.client.ca_file,
                                           .certificate_file = options_.client.certificate_file,
                                           .key_file = options_.client.key_file,
                                           .has_tls = has_tls()});
  if (!connection)
    throw std::runtime_error(connection.error().message());
  std::optional<std::string> body_of_answer;
  const auto ask = [&] {
    auto answer =
        (*connection)
            ->exchange({.url = (has_tls() ? "https://" : "http://") + endpoint(member) + "/v3/" + std::string{path},
                        .body = std::string{body},
                        .token = std::string{token}},
                       2s, [] { return false; });
    if (answer && answer->status == 200)
      body_of_answer = std::move(answer->body);
  };
  if (options_.places.empty())
    ask();
  else
    options_.places[member].within(ask);
  return body_of_answer;
}

std::string etcd_server::post(std::size_t member, std::string_view path, std::string_view body,
                              std::string_view token) {
  auto answer = try_post(member, path, body, token);
  if (!answer)
    throw std::runtime_error("etcd refused " + std::string{path});
  return *std::move(answer);
}

} // namespace troupe::tests
