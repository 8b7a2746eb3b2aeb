// Recognizes handles that come back to this node.
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

/// Recognizes entries that this node has forwarded, by the marks that it has put on them.
///
/// A handle that travels in a cycle without being adopted would be behind itself once more with each lap. So a handle
/// carries the mark of one node on its path. A node replaces this mark by its own whenever the number of hops is a
/// power of two. So for any cycle and any path into it, the mark soon belongs to a node on the cycle: after at most two
/// laps, or after as many hops as led into the cycle, if those are more.
/// after as many hops as led into the cycle, if those are more.
class mark_book {
public:
  /// `fresh_token` returns numbers that cannot be guessed.
  explicit mark_book(std::function<std::uint64_t()> fresh_token) : fresh_token_(std::move(fresh_token)) {}

  /// Puts the mark on a handle that is being forwarded.
  void leave(reference what, entry_trail& trail, handle_descriptor& handle);
  void forget(const entry_trail& trail) { left_.erase(trail.own_mark); }
  [[nodiscard]] std::optional<reference> find(std::uint64_t mark) const;

  [[nodiscard]] std::size_t size() const noexcept { return left_.size(); }

private:
  const std::function<std::uint64_t()> fresh_token_;
  std::map<std::uint64_t, reference> left_;
};

} // namespace troupe::internal::handles
