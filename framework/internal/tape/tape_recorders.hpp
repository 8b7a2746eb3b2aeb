// The recordings of a node.
#pragma once

#include <expected>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include <troupe/framework/internal/tape/tape_recorder.hpp>
#include <troupe/framework/link_options.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

/// Whether the options ask for a recording.
[[nodiscard]] inline bool is_wanted(const recording_options& options) {
  return !options.file.empty() || !options.directory.empty();
}

[[nodiscard]] tape_place place_of(const recording_options& options);

/// Keeps one recorder for each place to which links of the node are recorded, so that links with the same options share
/// a tape, and a link that is made again continues it.
///
/// Threads: any.
class tape_recorders {
public:
  /// Where links with these options leave what is recorded. The recorder is made if there is none. Fails with
  /// `bad_option`. Requires: is_wanted().
  [[nodiscard]] std::expected<std::shared_ptr<tape_queue>, node_error> of(const recording_options& options,
                                                                          const std::string& node);
  /// Ends all tapes. Waits for the disk for tape_recorder::end_timeout at most.
  void end();

private:
  /// One place. Its mutex is held while the file is made, so that a disk that does not answer holds up no other place.
  struct place {
    std::mutex mutex;
    std::unique_ptr<tape_recorder> recorder;
  };

  std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, std::shared_ptr<place>> places_;
};

} // namespace troupe::internal
