// How far a watch has got.
#pragma once

#include <troupe/framework/cluster/internal/etcd/etcd_answers.hpp>
#include <troupe/framework/cluster/internal/watching/watch_calls.hpp>

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <vector>

namespace troupe::cluster_directories {

/// Delivers the changes of a watch's messages, each revision once and whole, over any number of streams.
class watch_progress {
public:
  /// The most that may be kept until a revision is complete.
  static constexpr std::size_t held_bytes_max = 32u << 20;

  watch_progress(std::uint64_t first_revision, std::shared_ptr<watch_calls> calls)
      : next_revision_(first_revision), calls_(std::move(calls)) {}

  /// Where a new stream has to begin.
  [[nodiscard]] std::uint64_t next_revision() const noexcept { return next_revision_; }

  /// A new stream begins.
  void begin_stream();

  /// Fails with what is wrong with the message, in words that end a sentence.
  [[nodiscard]] std::expected<void, std::string> take(etcd_watch_message message);

private:
  void deliver(std::size_t count);

  std::uint64_t next_revision_;
  const std::shared_ptr<watch_calls> calls_;
  std::vector<directory_change> held_;
  std::size_t held_bytes_ = 0;
};

} // namespace troupe::cluster_directories
