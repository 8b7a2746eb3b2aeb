// One stream of changes.
#pragma once

#include <troupe/framework/cluster/internal/etcd/cluster_pin.hpp>
#include <troupe/framework/cluster/internal/etcd/etcd_caller.hpp>
#include <troupe/framework/cluster/internal/etcd/line_buffer.hpp>
#include <troupe/framework/cluster/internal/etcd/watch_progress.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace troupe::cluster_directories {

/// Follows the changes below a prefix, by one HTTP stream after another.
///
/// Threads: that of the watches.
class watch_stream {
public:
  using clock = std::chrono::steady_clock;

  /// What reading the stream led to.
  enum class outcome : std::uint8_t {
    goes_on,
    lost,      // Connect anew.
    has_ended, // on_end was called, or the watch was stopped.
  };

  /// `root` is the prefix of the directory; `prefix` begins with it.
  watch_stream(CURLM* multi, etcd_caller& caller, cluster_pin& pin, std::string root, std::string prefix,
               std::uint64_t first_revision, std::shared_ptr<watch_calls> calls);
  watch_stream(const watch_stream&) = delete;
  watch_stream& operator=(const watch_stream&) = delete;
  ~watch_stream();

  /// Leaves the stream that it has, if any, and begins one at the endpoint. Returns false if there is no memory.
  [[nodiscard]] bool connect(std::size_t endpoint);
  void disconnect();

  /// Reads what has come. `result` is that of the transfer, if it has ended.
  [[nodiscard]] outcome read(std::optional<CURLcode> result);

  [[nodiscard]] const CURL* transfer() const noexcept { return easy_.get(); }
  [[nodiscard]] bool is_connected() const noexcept { return is_connected_; }
  [[nodiscard]] bool is_created() const noexcept { return is_created_; } // etcd has said so.
  [[nodiscard]] std::size_t endpoint() const noexcept { return endpoint_; }
  [[nodiscard]] watch_calls& calls() const noexcept { return *calls_; }
  /// When the stream counts as lost unless something comes.
  [[nodiscard]] clock::time_point silent_until() const noexcept { return silent_until_; }

private:
  static std::size_t append(char* bytes, std::size_t size, std::size_t count, void* to) noexcept;
  [[nodiscard]] outcome read_line(const std::string& line);
  [[nodiscard]] outcome read_cancellation(const etcd_watch_message& message);
  [[nodiscard]] outcome fail(const etcd_failure& failure);

  CURLM* const multi_;
  etcd_caller& caller_;
  cluster_pin& pin_;
  const std::string root_;
  const std::string prefix_;
  const std::shared_ptr<watch_calls> calls_;
  watch_progress progress_;
  line_buffer lines_;
  http_post post_;
  curl_list fields_;
  std::array<char, CURL_ERROR_SIZE> error_{};
  curl_easy easy_; // After what it uses: it is destroyed first.
  std::size_t endpoint_ = 0;
  bool is_connected_ = false;
  bool is_created_ = false;
  bool has_new_token_ = false; // Since the last stream that was created.
  clock::time_point silent_until_;
};

} // namespace troupe::cluster_directories
