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
  /// All outlive this; `words` and `lists` are guarded by the link's lock.
  header_definitions(const link_common& link, sent_dictionary& words, const negotiation& lists)
      : link_(link), words_(words), lists_(lists) {}

  /// Before the first message. Outlives this.
  void open(const link_held&, connection& to) { to_ = &to; }

  /// The number of the standard header of that family and type; 0: the header has to stand in each element, since the
  /// peer has no room for more. Nothing where the peer has changed its lists since the terms were taken, and does not
  /// wait for this message: then it may not accept the family any more.
  [[nodiscard]] std::optional<std::uint64_t> number_of(const family& by, const type_entry& type,
                                                       const sending_terms& terms, bool is_waited_for);

  // -- of messages that are passed on

  /// 0: the header has to stand in each element.
  [[nodiscard]] std::uint64_t number_for_others(bytes_view header);
  /// Whether the signature is defined on this link, or may be.
  [[nodiscard]] bool admits_for_others(const std::vector<std::string>& aliases) const;

private:
  const link_common& link_;
  sent_dictionary& words_;
  const negotiation& lists_;
  connection* to_ = nullptr;
};

} // namespace troupe::internal
