// What programs that look at a node are told of its letters and spans.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <troupe/framework/dead_letter.hpp>
#include <troupe/framework/internal/traces/span_recorder.hpp>
#include <troupe/framework/internal/watch/recent_list.hpp>
#include <troupe/framework/node_activity.hpp>
#include <troupe/framework/span.hpp>

namespace troupe::internal {

/// The longest text in a node_activity.
inline constexpr std::size_t watched_text_bytes_max = 256;
[[nodiscard]] std::string watched_text(std::string_view text);
/// Milliseconds since the Unix epoch.
[[nodiscard]] std::int64_t unix_ms(std::chrono::system_clock::time_point at);

/// Both without a number. The letter is undelivered since now.
[[nodiscard]] letter_activity watched(const dead_letter& letter);
[[nodiscard]] span_activity watched(const span& what);

/// Sees each message that a link could not deliver. Threads: any, several at a time.
class letter_watcher {
public:
  virtual ~letter_watcher() = default;

  /// Must not block, and must not call a node or a link.
  virtual void see(const dead_letter& letter) noexcept = 0;
};

/// Keeps letters while somebody asks for them. Threads: any.
class watched_letters final : public letter_watcher {
public:
  using row = letter_activity;
  static constexpr std::size_t kept_max = 256;

  void see(const dead_letter& letter) noexcept override;
  [[nodiscard]] recent_list<row>& list() noexcept { return list_; }

private:
  recent_list<row> list_{kept_max};
};

/// Keeps spans while somebody asks for them. Threads: any.
class watched_spans final : public span_watcher {
public:
  using row = span_activity;
  static constexpr std::size_t kept_max = 4'096;

  void see(const span& what) noexcept override;
  [[nodiscard]] recent_list<row>& list() noexcept { return list_; }

private:
  recent_list<row> list_{kept_max};
};

} // namespace troupe::internal
