// Requests by HTTP, through libcurl.
#pragma once

#include <troupe/framework/cluster/directory_errc.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <string>

#include <curl/curl.h>

namespace troupe::cluster_directories {

struct http_answer {
  long status = 0;
  std::string body;
};

struct http_failure {
  enum class kind : std::uint8_t {
    not_sent,  // The server cannot have got the request.
    no_answer, // It may have got it.
    untrusted, // One end does not trust the certificate of the other.
    too_large, // The answer has more than the permitted size.
    not_http,
    stopped,
    broken, // libcurl's own failure.
  };

  kind what = kind::broken;
  std::string text;
};

/// How a server is spoken with.
struct http_settings {
  std::string ca_file; // Empty: the certificates of the system.
  std::string certificate_file;
  std::string key_file;
  bool has_tls = false;
};

struct http_post {
  std::string url;
  std::string body;
  std::string token; // For the header Authorization, if not empty.
  /// Whether libcurl must not send it a second time, which it does when a kept connection turns out to be closed.
  bool is_sent_once = false;
};

struct curl_easy_freed {
  void operator()(CURL* easy) const noexcept { curl_easy_cleanup(easy); }
};
struct curl_multi_freed {
  void operator()(CURLM* multi) const noexcept { curl_multi_cleanup(multi); }
};
struct curl_list_freed {
  void operator()(curl_slist* list) const noexcept { curl_slist_free_all(list); }
};
using curl_easy = std::unique_ptr<CURL, curl_easy_freed>;
using curl_multi = std::unique_ptr<CURLM, curl_multi_freed>;
using curl_list = std::unique_ptr<curl_slist, curl_list_freed>;

/// Initializes libcurl once. Fails with `system_failure`.
[[nodiscard]] std::expected<void, directory_error> prepare_curl();

/// Sets what a POST needs. `post` and the returned header fields must live as long as the transfer. Returns nullptr if
/// there is no memory.
[[nodiscard]] curl_list set_post(CURL* easy, const http_settings& settings, const http_post& post);

/// Why a transfer without an answer ended.
[[nodiscard]] http_failure failure_of_transfer(CURL* easy, CURLcode result, const char* text);

/// Sends one POST after another, and keeps the connections that it made.
///
/// Threads: one at a time, except wake().
class http_connection {
public:
  /// More than the 256 largest entries of a range.
  static constexpr std::size_t answer_bytes_max = 32u << 20;

  [[nodiscard]] static std::expected<std::unique_ptr<http_connection>, directory_error> make(http_settings settings);
  http_connection(const http_connection&) = delete;
  http_connection& operator=(const http_connection&) = delete;

  /// Waits for the answer, at most for `patience`, and until is_stopped() returns true after a wake().
  [[nodiscard]] std::expected<http_answer, http_failure>
  exchange(const http_post& post, std::chrono::milliseconds patience, const std::function<bool()>& is_stopped);

  /// Makes a running exchange() look at is_stopped(). Any thread may call it.
  void wake();

private:
  http_connection(http_settings settings, curl_multi multi, curl_easy easy);

  const http_settings settings_;
  const curl_multi multi_;
  const curl_easy easy_; // After multi_: it is destroyed first.
};

} // namespace troupe::cluster_directories
