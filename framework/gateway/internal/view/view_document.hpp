// The JSON that the page reads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <troupe/framework/gateway/view.hpp>
#include <troupe/framework/memory_summary.hpp>
#include <troupe/serializers/family.hpp>
#include <troupe/serializers/type_registry.hpp>

namespace troupe::web {

/// Writes what a source tells as JSON for the page, and reads the page's orders. Names come from peers: each text is
/// cut at 500 bytes, and without characters that would disturb a page (one_line()).
///
/// Threads: any.
class view_document {
public:
  /// Links and objects beyond these numbers are left out and counted, so that a page stays usable.
  static constexpr std::size_t links_max = 4'000;
  static constexpr std::size_t objects_max = 2'000;
  static constexpr std::size_t holders_max = 50; // Of one object.

  view_document();

  /// All nodes and their links, without what only details show. `run` names the object that gives the documents out: a
  /// page must not compare figures of two runs.
  [[nodiscard]] std::string state(const view_snapshot& of, bool takes_orders, std::int64_t unix_ms,
                                  std::string_view run = {}) const;
  /// One link with its types and the buckets of its latencies. Empty if there is no such link.
  [[nodiscard]] std::string link(const view_snapshot& in, std::string_view node, std::uint64_t number) const;
  /// What is kept in memory and on disk, and why.
  [[nodiscard]] std::string memory(const memory_summary& of, std::int64_t unix_ms) const;

  /// What happens in the nodes.
  [[nodiscard]] std::string activity(const std::vector<viewed_activity>& of, std::int64_t unix_ms) const;

  /// Reads an order. Fails with a text that says what is wrong.
  [[nodiscard]] std::expected<view_order, std::string> order(std::string_view json) const;

private:
  template <class T>
  [[nodiscard]] std::string text_of(const T& value) const;

  type_registry types_;
  family_set families_;
};

} // namespace troupe::web
