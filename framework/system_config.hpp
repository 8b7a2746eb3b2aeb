// The actor system's configuration for programs with nodes.
#pragma once

#include <expected>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>

#include <caf/actor_system_config.hpp>
#include <caf/error.hpp>

#include <troupe/base/export.hpp>
#include <troupe/framework/fwd.hpp>
#include <troupe/framework/node_error.hpp>
#include <troupe/framework/options.hpp>
#include <troupe/framework/reconnect.hpp>

namespace troupe {

class family_set;

/// The `actor_system_config` that a node requires. It gives the system a random node id, without which handles to
/// remote actors would look local. It sets the scheduler policy `sharing`, because a worker that sleeps until it is
/// woken answers sooner than one that polls. It renders Troupe's errors. Everything else is as in CAF; options that are
/// parsed later override the policy set here.
///
/// `parse` also reads the options of nodes and links, from the same file and command line as CAF's own options:
///
///     troupe {
///       node { name = "kitchen" listen = ["unix:///tmp/kitchen.sock"] }
///       links {
///         default { serializers = ["typed", "msgpack"] spill-bytes = "64 KiB" }
///         "tcp://10.0.0.2:7001" { serializers = ["json"] compression = "lz4" }
///       }
///     }
///
/// The command line, for example `--troupe.node.name=pantry`, overrides the file. framework/options.md has all keys and
/// their syntax.
///
/// Threads: as in CAF. After `parse`, any thread may call the const members.
/// Lifetime: must outlive the actor system, as in CAF.
class TROUPE_EXPORT system_config : public caf::actor_system_config {
public:
  system_config();

  /// Reads what `caf::actor_system_config::parse` reads, and Troupe's options. The file is that of the argument
  /// --config-file, or else `file`, or else caf-application.ini. Only a file named by --config-file must exist. If
  /// another one cannot be read, the log says which and where: a warning for `file`, level `info` for
  /// caf-application.ini. Arguments that begin with --troupe. are accepted anywhere before a "--". A second call
  /// replaces what the first one read. Fails with CAF's errors, or with Troupe's `bad_option`, whose text
  /// (`troupe::text_of`) names file and line.
  caf::error parse(string_list arguments, std::istream& file);
  caf::error parse(string_list arguments, const char* file = nullptr);
  caf::error parse(int argument_count, char** arguments, std::istream& file);
  caf::error parse(int argument_count, char** arguments, const char* file = nullptr);

  /// Completes `given` as `node::open` does. Options that are not set take the values of `troupe.node`, and the options
  /// of links that peers dial take those of `troupe.links.accepted`. Fails with `bad_option` if the configuration names
  /// a family that is not in `families`, for the node or any link; the text has file and line, and the known families.
  /// Fails with `bad_option` also if the configuration was read by CAF's own `parse`.
  [[nodiscard]] std::expected<struct node_options, node_error> node_options_with(const family_set& families,
                                                                                 struct node_options given = {}) const;

  /// Completes `given` as `node::connect` does. Options that are not set take the values of the address's entry in
  /// `troupe.links`, or else those of the entry `default`. Addresses are compared as texts. Fails with `bad_option` if
  /// one of these two entries names a family that is not in `families`.
  [[nodiscard]] std::expected<struct link_options, node_error>
  link_options_for(std::string_view address, const family_set& families, struct link_options given = {}) const;

  /// Completes `given` as `node::keep_connected` does, from the group `reconnect` of the address's entry or of
  /// `default`.
  [[nodiscard]] reconnect_policy reconnect_policy_for(std::string_view address, reconnect_policy given = {}) const;

  /// @private Null if nothing was read.
  [[nodiscard]] const internal::configuration* configuration() const noexcept { return configuration_.get(); }

private:
  caf::error parse_from(string_list arguments, std::istream& file, const std::string& file_name);
  void warn_of_near_groups(const std::string& file_name) const;

  std::shared_ptr<const internal::configuration> configuration_;
};

} // namespace troupe
