// Answers the page's requests.
#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <troupe/framework/gateway/internal/view/kept_activity.hpp>
#include <troupe/framework/gateway/internal/view/view_document.hpp>
#include <troupe/framework/gateway/internal/words/refusal.hpp>
#include <troupe/framework/gateway/view.hpp>

namespace troupe::web {

/// Asks the source as often as its figures have become old, so that any number of viewers cost one look.
///
/// Threads: one at a time. Every member blocks while the source is asked.
class view_desk {
public:
  using clock = std::chrono::steady_clock;
  using text = std::shared_ptr<const std::string>;

  static constexpr std::chrono::milliseconds fresh_for{900};         // A page asks once a second.
  static constexpr std::chrono::milliseconds memory_fresh_for{1900}; // It asks for objects every 2 s.
  static constexpr std::chrono::milliseconds timeout{1000};          // For the source's answers.
  static constexpr std::chrono::milliseconds order_timeout{5000};

  explicit view_desk(std::shared_ptr<view_source> source, std::function<clock::time_point()> now = clock::now);

  [[nodiscard]] text state();
  [[nodiscard]] text memory();
  [[nodiscard]] text activity();
  /// Fails with 404 if there is no such link.
  [[nodiscard]] std::expected<text, refusal> link(std::string_view node, std::uint64_t number);
  /// Carries out an order in JSON. `by` is the name of the token.
  [[nodiscard]] std::expected<text, refusal> act(std::string_view order, const std::string& by);

private:
  void look();

  const std::shared_ptr<view_source> source_;
  const std::function<clock::time_point()> now_;
  const view_document documents_;
  const std::string run_;
  std::optional<clock::time_point> looked_;
  view_snapshot seen_;
  text state_;
  std::optional<clock::time_point> remembered_;
  text memory_;
  std::optional<clock::time_point> listened_;
  kept_activity happened_;
  text activity_;
};

} // namespace troupe::web
