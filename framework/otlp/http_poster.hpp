// Posts bodies to one URL.
#pragma once

#include <chrono>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace troupe::otlp {

struct http_answer {
  long status = 0;
  std::string body;                                // At most 64 KiB of it.
  std::optional<std::chrono::seconds> retry_after; // The header field, from now on.
};

/// Posts JSON by libcurl, and keeps the connection for the next request.
///
/// Threads: one at a time.
class http_poster {
public:
  using header_fields = std::vector<std::pair<std::string, std::string>>;

  /// Fails, with the reason, if the URL is not one of http or https, or a header field is invalid.
  [[nodiscard]] static std::expected<http_poster, std::string> make(std::string url, const header_fields& headers);

  http_poster(http_poster&&) noexcept;
  http_poster& operator=(http_poster&&) noexcept;
  ~http_poster();

  /// The URL without user and password, for logs.
  [[nodiscard]] const std::string& shown_url() const noexcept;

  /// Fails, with the reason, if no answer came in time, or `is_enough` returned true meanwhile; it is called every 50
  /// ms.
  [[nodiscard]] std::expected<http_answer, std::string> post(std::string_view body, std::chrono::milliseconds timeout,
                                                             const std::function<bool()>& is_enough);

private:
  struct handles;
  explicit http_poster(std::unique_ptr<handles> of);

  std::unique_ptr<handles> of_; // Null after a move.
};

} // namespace troupe::otlp
