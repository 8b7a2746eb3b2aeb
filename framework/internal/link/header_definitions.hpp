// The headers that a link's payloads name by number.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <troupe/framework/internal/link/link_common.hpp>
#include <troupe/framework/internal/link/negotiation.hpp>
#include <troupe/framework/internal/link/sending_terms.hpp>
#include <troupe/framework/internal/link/sent_dictionary.hpp>
#include <troupe/framework/internal/net/connection.hpp>
#include <troupe/framework/internal/net/link_mutex.hpp>

namespace troupe::internal {

/// Defines headers for the peer before a message names them.
///
/// Threads: any.
class header_definitions {
public:
  /// All must outlive this object. The link's lock guards `words` and `lists`.
  header_definitions(const link_common& link, sent_dictionary& words, const negotiation& lists)
      : link_(link), words_(words), lists_(lists) {}

  /// To be called before the first message. `to` must outlive this object.
  void open(const link_held&, connection& to) { to_ = &to; }

  /// Returns the number of the standard header of that family and type. 0 if the peer has no room for more definitions;
  /// then each element carries the header. `is_waited_for`: this end acknowledges a change of the peer's lists only
  /// after this message. Otherwise returns nullopt if the peer has changed its lists since `terms` were taken, because
  /// it may not accept the family any more.
  [[nodiscard]] std::optional<std::uint64_t> number_of(const family& by, const type_entry& type,
                                                       const sending_terms& terms, bool is_waited_for);

  // -- for messages that are passed on

  /// As number_of(), for a header that a peer has encoded. 0: each element carries the header.
  [[nodiscard]] std::uint64_t number_for_others(bytes_view header);
  /// Returns true if the signature is defined on this link, or there is room to define it.
  [[nodiscard]] bool admits_for_others(const std::vector<std::string>& aliases) const;

private:
  const link_common& link_;
  sent_dictionary& words_;
  const negotiation& lists_;
  connection* to_ = nullptr;
};

} // namespace troupe::internal
