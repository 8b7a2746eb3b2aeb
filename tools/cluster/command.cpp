#include "cluster/command.hpp"

#include "arguments.hpp"
#include "cluster/access.hpp"
#include "cluster/doctor.hpp"
#include "cluster/draining.hpp"
#include "cluster/views.hpp"
#include "cluster/watching.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <memory>
#include <optional>
#include <ostream>
#include <string>

namespace troupe::tools {

namespace {

/// The command's options.
struct cluster_request {
  directory_access by;
  bool json = false;
  drain_request drain;
  doctor_request doctor;
  std::optional<double> watch_seconds;
};

using cluster_text = std::string (*)(const cluster_snapshot&);
using cluster_document = nlohmann::ordered_json (*)(const cluster_snapshot&);

void show(const cluster_request& asked, const cluster_answer& to, cluster_text text, cluster_document document) {
  const auto cluster = observe(asked.by);
  if (!cluster)
    return to.fail(asked.by, cluster.error());
  to.out << (asked.json ? finished(document(cluster->now())) : text(cluster->now()));
}

void add_drain(CLI::App& cluster, const std::shared_ptr<cluster_request>& asked, const cluster_answer& to) {
  auto* const command =
      cluster.add_subcommand("drain", "Orders a member to withdraw its names and to give its singletons and entities "
                                      "up, and waits until it has nothing left or is gone");
  command->add_option("member", asked->drain.member, "The member's name")->required();
  command->add_flag("--cancel", asked->drain.is_cancelled, "Cancels the order");
  command->add_option("--wait", asked->drain.wait_seconds, "Seconds to wait; 0: does not wait")
      ->check(is_within(0, 86'400.0))
      ->capture_default_str();
  command->callback([asked, to] { drain_member(asked->by, asked->drain, asked->json, to); });
}

void add_doctor(CLI::App& cluster, const std::shared_ptr<cluster_request>& asked, const cluster_answer& to) {
  auto* const command =
      cluster.add_subcommand("doctor", "Examines the directory and every member: what is wrong, and what cannot reach "
                                       "what. Status: 0 healthy, 1 a problem, 2 the directory cannot be asked");
  auto& known = asked->doctor.known_by;
  const auto add_file = [&](const char* name, std::string& path, const char* what) {
    command->add_option(name, path, what)->check(CLI::ExistingFile)->option_text("FILE");
  };
  add_file("--secret-file", known.secret_file, "The file with the shared secret, for links over TCP and TLS");
  add_file("--cookie-file", known.cookie_file,
           "The file with the secret of this host's TCP nodes, if it is not the default file");
  add_file("--tls-ca", known.tls.authority_file, "The authority that signed the certificates of TLS nodes (PEM)");
  add_file("--tls-certificate", known.tls.certificate_file,
           "The certificate of this command, if a TLS node asks for one (PEM)");
  add_file("--tls-key", known.tls.key_file, "The key of that certificate (PEM)");
  command->add_option("--server-name", known.tls.server_name, "The name that a TLS node's certificate must contain");
  command->add_flag_callback(
      "--no-write", [asked] { asked->doctor.writes = false; }, "Does not try to write to the directory");
  command->callback([asked, to] { examine_cluster(asked->by, asked->doctor, asked->json, to); });
}

} // namespace

void add_cluster_command(CLI::App& app, std::ostream& out, std::ostream& err, int& status) {
  auto asked = std::make_shared<cluster_request>();
  const cluster_answer to{out, err, status};
  auto* const cluster = app.add_subcommand("cluster", "Shows the members of a cluster and their work, drains a member, "
                                                      "and finds out what is wrong");
  cluster->require_subcommand(1);
  cluster->fallthrough(); // The options may follow the subcommand.
  add_directory_access(*cluster, asked->by);
  cluster->add_flag("--json", asked->json, "One JSON document instead of text; of `watch`: one line per event");

  const auto add = [&](const char* name, const char* what, cluster_text text, cluster_document document) {
    cluster->add_subcommand(name, what)->callback([asked, to, text, document] { show(*asked, to, text, document); });
  };
  add("members", "Lists the members, with their addresses and the amount of their work", text_of_members,
      document_of_members);
  add("names", "Lists the published names and the singletons, with their members", text_of_names, document_of_names);
  add("entities", "Shows how many shards of each kind of entities each member owns", text_of_entities,
      document_of_entities);
  auto* const watch = cluster->add_subcommand("watch", "Prints what is there, and then each change, until Ctrl-C");
  watch->add_option("--for", asked->watch_seconds, "Seconds after which it ends")->check(is_within(0, 1e9));
  watch->callback([asked, to] { watch_cluster(asked->by, asked->watch_seconds, asked->json, to); });
  add_drain(*cluster, asked, to);
  add_doctor(*cluster, asked, to);
}

} // namespace troupe::tools
