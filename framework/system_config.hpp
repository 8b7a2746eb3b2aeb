// The actor system's configuration for programs whose actors talk over links.
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

/// An `actor_system_config` that a node needs: it gives the system a random node id, without which handles to remote
/// actors would look local, sets the scheduler policy `sharing`, because a worker that sleeps until it is woken answers
/// sooner than one that polls, and renders Troupe's errors. Everything else is as CAF has it; options parsed afterwards
/// win over the policy set here.
///
/// `parse` reads the options of nodes and links, too, from the same file and command line as CAF's own:
///
///     troupe {
///       node { name = "kitchen" listen = ["unix:///tmp/kitchen.sock"] }
///       links {
///         default { serializers = ["typed", "msgpack"] spill-bytes = "64 KiB" }
///         "tcp://10.0.0.2:7001" { serializers = ["json"] compression = "lz4" }
///       }
///     }
///
/// and `--troupe.node.name=pantry`, which wins. All keys, and how they are written: framework/options.md.
///
/// Threads: as CAF has it; once parsed, the readers from any.
/// Lifetime: as CAF says, must outlive the actor system.
class TROUPE_EXPORT system_config : public caf::actor_system_config {
public:
  system_config();

  /// Reads what `caf::actor_system_config::parse` reads and Troupe's options. The file is that of the argument
  /// --config-file, `file`, or caf-application.ini; of these only the first must be there. Arguments that begin with
  /// --troupe. are taken wherever they stand in front of a "--".
  /// Fails with CAF's errors, or Troupe's `bad_option`, whose text (`troupe::text_of`) names file and line. A second
  /// call replaces what the first has read.
  caf::error parse(string_list arguments, std::istream& file);
  caf::error parse(string_list arguments, const char* file = nullptr);
  caf::error parse(int argument_count, char** arguments, std::istream& file);
  caf::error parse(int argument_count, char** arguments, const char* file = nullptr);

  /// What `node::open` without options uses: `troupe.node`, with `troupe.links.accepted` for the links that peers dial.
  /// Fails with `bad_option` where an option, of any link too, names a family that is not in `families`; the text names
  /// file and line, and the known ones.
  [[nodiscard]] std::expected<struct node_options, node_error> node_options_with(const family_set& families) const;

  /// What `node::connect` without options uses: the address's entry in `troupe.links`, which starts from the entry
  /// `default`. Addresses are the same when their texts are. Fails as above, of what it gives only.
  [[nodiscard]] std::expected<struct link_options, node_error> link_options_for(std::string_view address,
                                                                                const family_set& families) const;

  /// What `node::keep_connected` without a policy uses: the group `reconnect` of the same entry.
  [[nodiscard]] reconnect_policy reconnect_policy_for(std::string_view address) const;

  /// @private Null where nothing was read.
  [[nodiscard]] const internal::configuration* configuration() const noexcept { return configuration_.get(); }

private:
  caf::error parse_from(string_list arguments, std::istream& file, const std::string& file_name);
  void warn_of_near_groups(const std::string& file_name) const;

  std::shared_ptr<const internal::configuration> configuration_;
};

} // namespace troupe
