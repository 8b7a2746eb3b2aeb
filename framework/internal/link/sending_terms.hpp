// The terms with which a link's messages are encoded, as agreed at one moment.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <troupe/framework/internal/net/link_mutex.hpp>
#include <troupe/framework/node_errc.hpp>
#include <troupe/serializers/context.hpp>
#include <troupe/serializers/family.hpp>
#include <troupe/serializers/serialize_error.hpp>
#include <troupe/serializers/type_entry.hpp>

namespace troupe::internal {

/// Types that the peer cannot read, each with the error text for senders.
using refused_types = std::unordered_map<const type_entry*, std::string>;

/// The terms of one moment. A message takes the newest ones when its encoding begins, and keeps them.
struct sending_terms {
  /// Unique in this process; above zero.
  std::uint64_t number = 0;
  std::uint64_t peer_epoch = 0;                 // negotiation::peer_epoch
  std::vector<std::string> serializers;         // This end's list, in order.
  std::vector<std::string> peer_accepts;        // What the peer accepts.
  std::vector<const family*> families;          // The families in `serializers` that the peer accepts.
  std::size_t spill_bytes = 0;                  // link_options
  std::shared_ptr<const refused_types> refused; // Null: no types.
  troupe::context context;                      // Views `families`, and texts of the link.
};

/// Where to find the newest terms of a link.
struct newest_terms {
  link_mutex& mutex;
  const std::uint64_t link;                          // link_core::serial
  const std::atomic<std::uint64_t>& number;          // The number of `terms`; changed under the mutex.
  const std::shared_ptr<const sending_terms>& terms; // Guarded by the mutex.
};

/// "near sends with [typed], far accepts [msgpack]".
[[nodiscard]] std::string lists_text(std::string_view near, std::string_view far, const sending_terms& terms);

/// The error for a value that cannot be encoded with these terms.
[[nodiscard]] node_error failure_of_encoding(const serialize_error& error, std::string_view near, std::string_view far,
                                             const sending_terms& terms);

} // namespace troupe::internal
