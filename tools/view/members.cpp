#include "view/members.hpp"

#include "cluster/access.hpp"
#include "cluster/reaching.hpp"
#include "cluster/views.hpp"
#include "text.hpp"

#include <troupe/framework/cluster/cluster_observer.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace troupe::tools {

namespace {

class observed_members final : public members {
public:
  observed_members(std::string address, cluster_observer by) : address_(std::move(address)), by_(std::move(by)) {}

  [[nodiscard]] viewed_cluster now() const override {
    const auto seen = by_.now();
    viewed_cluster made{.directory = address_, .problem = {}, .members = {}, .faults = {}};
    if (const auto trouble = by_.trouble())
      made.problem = trouble->message();
    for (const auto& each : seen.members) {
      auto work = work_of(seen, each.name);
      auto& member = made.members.emplace_back(viewed_member{.name = each.name,
                                                             .state = each.is_draining ? "draining" : "up",
                                                             .host = each.host,
                                                             .addresses = each.addresses,
                                                             .names = std::move(work.names),
                                                             .singletons = std::move(work.singletons),
                                                             .entities = {},
                                                             .problem = {}});
      for (const auto& [kind, shards] : work.shards)
        member.entities.push_back(kind + ": " + several(shards.size(), "shard"));
      if (reachable(each) == each.addresses.end())
        member.problem =
            "none of its addresses can be reached from another host. Let its node also listen at tcp:// or "
            "tls:// (node_options::listen), or run `troupe view` on its host";
    }
    for (const auto& [key, why] : seen.faults)
      made.faults.push_back(key + ": " + why);
    return made;
  }

  [[nodiscard]] std::vector<watched_address> addresses() const override {
    std::vector<watched_address> made;
    for (const auto& member : by_.now().members)
      if (const auto found = reachable(member); found != member.addresses.end())
        made.push_back({{*found, 0}, member.incarnation, member.name, member.host == host_of_this_process()});
    return made;
  }

private:
  /// The first address of the member that is not another process here.
  static std::vector<std::string>::const_iterator reachable(const cluster_member& member) {
    const auto is_elsewhere = !member.host.empty() && member.host != host_of_this_process();
    return std::ranges::find_if(member.addresses, [&](const std::string& each) {
      return each.find("://") != std::string::npos && !(is_elsewhere && is_within_host(each));
    });
  }

  const std::string address_;
  const cluster_observer by_;
};

} // namespace

void add_directory_choice(CLI::App& command, directory_choice& by) {
  command
      .add_option(
          "--directory", by.address,
          "Also shows the cluster of this directory, such as etcd://10.0.0.5:2379/shop or host://shop, and asks "
          "its members; default: $TROUPE_DIRECTORY")
      ->envname("TROUPE_DIRECTORY")
      ->option_text("ADDRESS");
  command.add_option("--user", by.user, "User of an etcd");
  const auto add_file = [&](const char* name, std::string& path, const char* what) {
    command.add_option(name, path, what)->check(CLI::ExistingFile)->option_text("FILE");
  };
  add_file("--password-file", by.password_file, "The file with the user's password, closed to others");
  add_file("--directory-ca", by.authority_file, "The authority that signed the certificates of an etcd (PEM)");
  add_file("--directory-certificate", by.certificate_file,
           "The certificate of this client, if an etcd asks for one (PEM)");
  add_file("--directory-key", by.key_file, "The key of that certificate (PEM)");
}

std::expected<std::shared_ptr<members>, std::string> members::open(const directory_choice& by) {
  directory_access access;
  access.address = by.address;
  access.password_file = by.password_file;
  access.options.user = by.user;
  access.options.ca_file = by.authority_file;
  access.options.certificate_file = by.certificate_file;
  access.options.key_file = by.key_file;
  auto opened = observe(access);
  if (!opened)
    return std::unexpected{"the directory cannot be asked: " + opened.error().message()};
  return std::make_shared<observed_members>(by.address, *std::move(opened));
}

} // namespace troupe::tools
