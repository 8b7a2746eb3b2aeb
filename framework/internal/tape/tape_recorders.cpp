#include <troupe/framework/internal/tape/tape_recorders.hpp>

#include <chrono>
#include <vector>

#include <troupe/base/version.hpp>
#include <troupe/framework/log.hpp>

namespace troupe::internal {

tape_place place_of(const recording_options& options) {
  const auto codec = options.compression == compression::none   ? tape_codec::none
                     : options.compression == compression::zstd ? tape_codec::zstd
                                                                : tape_codec::lz4;
  return {.file = options.file,
          .directory = options.directory,
          .file_bytes_max = options.file_bytes,
          .files_max = options.files_most,
          .codec = codec};
}

std::expected<std::shared_ptr<tape_queue>, node_error> tape_recorders::of(const recording_options& options,
                                                                          const std::string& node) {
  std::unique_lock held{mutex_};
  auto& known = places_[{options.file, options.directory}];
  if (!known)
    known = std::make_shared<place>();
  const auto at = known;
  held.unlock();
  const std::lock_guard guard{at->mutex};
  if (!at->recorder) {
    auto made =
        tape_recorder::open({.place = place_of(options),
                             .node = node,
                             .software = TROUPE_VERSION,
                             .queue_bytes = options.queue_bytes,
                             .tell = [](const std::string& news) { write_log_line(log_level::warning, news); }});
    if (!made)
      return std::unexpected{std::move(made).error()};
    at->recorder = *std::move(made);
  }
  return at->recorder->queue();
}

void tape_recorders::end() {
  const auto deadline = std::chrono::steady_clock::now() + tape_recorder::end_timeout;
  std::map<std::pair<std::string, std::string>, std::shared_ptr<place>> ended;
  {
    std::lock_guard guard{mutex_};
    ended.swap(places_);
  }
  std::vector<std::unique_ptr<tape_recorder>> recorders;
  for (const auto& [name, each] : ended) {
    std::lock_guard guard{each->mutex};
    if (each->recorder)
      recorders.push_back(std::move(each->recorder));
  }
  for (const auto& each : recorders) // All write what they have at the same time.
    each->queue()->close();
  for (const auto& each : recorders)
    each->end(deadline);
}

} // namespace troupe::internal
