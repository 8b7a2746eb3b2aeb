// Handles that come round.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include <troupe/framework/internal/handles/entry.hpp>
#include <troupe/framework/internal/handles/messages.hpp>

namespace troupe::internal::handles {

/// Knows entries again that this node has sent on, by the marks that it has left.
///
/// What comes round without being adopted would be behind itself once more with each lap. So a handle brings a mark of
/// one node on its way, which replaces that of another whenever it has come twice as far: whatever the round and how it
/// was come by, the last mark is of a node on it after two laps, or the way there again.
class mark_book {
public:
  /// `fresh_token` gives numbers that nobody can guess.
  explicit mark_book(std::function<std::uint64_t()> fresh_token) : fresh_token_(std::move(fresh_token)) {}

  /// The handle is sent on.
  void leave(reference what, entry_trail& trail, handle_descriptor& handle);
  void forget(const entry_trail& trail) { left_.erase(trail.own_mark); }
  [[nodiscard]] std::optional<reference> find(std::uint64_t mark) const;

  [[nodiscard]] std::size_t size() const noexcept { return left_.size(); }

private:
  const std::function<std::uint64_t()> fresh_token_;
  std::map<std::uint64_t, reference> left_;
};

} // namespace troupe::internal::handles
