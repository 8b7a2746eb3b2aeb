// Counts, by type, the values that pass beside the bytes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include <troupe/framework/internal/caf_port/message_view.hpp>
#include <troupe/framework/internal/link/traffic.hpp>
#include <troupe/serializers/type_entry.hpp>

namespace troupe::internal {

/// Counts the values of messages that arrive unencoded.
///
/// Threads: one.
class passed_traffic {
public:
  /// `counts`: null if nothing is counted. Both must outlive this object.
  passed_traffic(const type_registry& types, traffic_table* counts) : types_(types), counts_(counts) {}

  /// `size_bytes`: the size of the whole message.
  void count(const message_view& content, std::uint64_t size_bytes);

private:
  struct row {
    traffic* counted_as = nullptr; // Null if the registry does not have the type.
    std::shared_ptr<const type_entry> type;
  };

  const type_registry& types_;
  traffic_table* const counts_;
  std::map<element_type, row> rows_;
};

} // namespace troupe::internal
