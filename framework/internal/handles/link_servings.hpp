// The pulls that one peer has made here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <troupe/framework/internal/handles/messages.hpp>

namespace troupe::internal::handles {

/// One pull that a peer has made here.
struct served_pull {
  enum class step : std::uint8_t { fetching, head, bytes };

  object_id name;
  bool is_behind = false;     // This node had the object `behind` another node when it was exported.
  step next = step::fetching; // The step that it waits for, or the data that is sent next.
  object_id place;
  std::uint64_t offset = 0;
  std::uint64_t size_bytes = 0;
};

/// The bytes of the object at `place` to send next on a link.
struct served_chunk {
  pull_chunk what;
  object_id place;
};

/// Lets the pulls of one peer take turns in sending, so that a large object does not delay a small one.
class link_servings {
public:
  /// Allows `allowed` pulls of objects that this node has, and as many again of objects `behind` others, which must not
  /// delay the rest.
  explicit link_servings(std::size_t allowed) : allowed_(allowed) {}

  /// Returns false if too many pulls of its kind are open. Requires: no open pull has that number.
  [[nodiscard]] bool open(request_number request, const object_id& name, bool is_behind);
  /// The bytes are here. The pull is ready to send when the link can take it.
  void make_ready(request_number request, const object_id& place, std::uint64_t size_bytes);
  /// The next ready pull, by turns; nullopt if none is ready.
  [[nodiscard]] std::optional<request_number> next();
  /// Requires: the pull is open. close() requires the same.
  [[nodiscard]] served_pull& at(request_number request) { return open_.at(request); }
  served_pull close(request_number request);

  [[nodiscard]] bool contains(request_number request) const { return open_.contains(request); }
  [[nodiscard]] bool empty() const noexcept { return open_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return open_.size(); }
  [[nodiscard]] bool has_ready() const noexcept { return !ready_.empty(); }
  /// The first open pull. Requires: one is open.
  [[nodiscard]] request_number first() const { return open_.begin()->first; }
  /// The first open pull of that name; nullopt if there is none.
  [[nodiscard]] std::optional<request_number> first_of(const object_id& name) const;
  /// The first invariant that does not hold; empty if all hold.
  [[nodiscard]] std::string_view broken_invariant() const;
  template <class Visitor>
  void for_each(Visitor visit) const {
    for (const auto& [request, each] : open_)
      visit(request, each);
  }

private:
  const std::size_t allowed_;
  std::map<request_number, served_pull> open_;
  std::set<std::pair<object_id, request_number>> by_name_; // `open_` by name.
  std::size_t behind_ = 0;                                 // How many open pulls are `behind`.
  std::set<request_number> ready_;                         // Pulls that wait only for the link.
  request_number last_ = 0;                                // The last pull that had a turn.
};

} // namespace troupe::internal::handles
