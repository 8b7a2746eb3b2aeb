// Counts the requests to a directory.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <troupe/framework/cluster/cluster_stats.hpp>
#include <troupe/framework/cluster/directory.hpp>

namespace troupe::membership {

/// Passes each call on to another directory, and counts it.
///
/// Threads: any.
class counted_directory final : public directory {
public:
  explicit counted_directory(std::shared_ptr<directory> to) : to_(std::move(to)) {}

  [[nodiscard]] directory_requests counts() const;

  const std::string& shown_address() const noexcept override { return to_->shown_address(); }
  std::expected<std::string, directory_error> identity() override { return to_->identity(); }
  bool is_writable() const noexcept override { return to_->is_writable(); }
  std::optional<directory_error> trouble() const override { return to_->trouble(); }
  std::expected<directory_listing, directory_error> list(std::string_view prefix) override;
  std::expected<directory_lease, directory_error> grant(std::chrono::milliseconds time) override;
  std::expected<std::chrono::milliseconds, directory_error> keep_alive(std::uint64_t lease) override;
  std::expected<void, directory_error> revoke(std::uint64_t lease) override;
  std::expected<directory_commit, directory_error> commit(std::span<const directory_condition> conditions,
                                                          std::span<const directory_write> writes) override;
  std::expected<std::unique_ptr<directory_watch>, directory_error>
  watch(std::string_view prefix, std::uint64_t first_revision, directory_watch_handlers handlers) override;
  void close() override { to_->close(); }

private:
  struct counter {
    std::atomic<std::uint64_t> answered = 0;
    std::atomic<std::uint64_t> failed = 0;

    template <class Result>
    Result operator()(Result of) {
      ++(of ? answered : failed);
      return of;
    }
    [[nodiscard]] request_counts read() const { return {.answered = answered, .failed = failed}; }
  };

  const std::shared_ptr<directory> to_;
  counter lists_;
  counter grants_;
  counter keep_alives_;
  counter revocations_;
  counter commits_;
  counter watches_;
};

} // namespace troupe::membership
