#include <troupe/framework/internal/tape/tape_recorders.hpp>

#include <troupe/base/version.hpp>
#include <troupe/framework/log.hpp>

namespace troupe::internal {

namespace {

tape_codec codec_for(compression which) {
  switch (which) {
  case compression::none:
    return tape_codec::none;
  case compression::zstd:
    return tape_codec::zstd;
  case compression::lz4:
  case compression::automatic:
    break;
  }
  return tape_codec::lz4;
}

} // namespace

std::expected<std::shared_ptr<tape_recorder>, node_error> tape_recorders::of(const recording_options& options,
                                                                             const std::string& node) {
  std::lock_guard guard{mutex_};
  auto& known = by_place_[{options.file, options.directory}];
  if (known)
    return known;
  auto made = tape_recorder::open({.place = {.file = options.file,
                                             .directory = options.directory,
                                             .file_bytes_max = options.file_bytes,
                                             .files_max = options.files_most,
                                             .codec = codec_for(options.compression)},
                                   .node = node,
                                   .software = TROUPE_VERSION,
                                   .queue_bytes = options.queue_bytes,
                                   .tell = [](const std::string& news) { write_log_line(log_level::warning, news); }});
  if (!made) {
    by_place_.erase({options.file, options.directory});
    return std::unexpected{std::move(made).error()};
  }
  known = *std::move(made);
  return known;
}

void tape_recorders::end() {
  std::map<std::pair<std::string, std::string>, std::shared_ptr<tape_recorder>> ended;
  {
    std::lock_guard guard{mutex_};
    ended.swap(by_place_);
  }
  for (const auto& [place, recorder] : ended)
    recorder->end();
}

} // namespace troupe::internal
