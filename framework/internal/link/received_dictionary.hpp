// Signatures and headers that the peer has numbered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <expected>
#include <functional>
#include <memory>
#include <vector>

#include <troupe/framework/internal/caf_port/decoded_message.hpp>
#include <troupe/framework/internal/link/acceptance.hpp>
#include <troupe/framework/internal/link/traffic.hpp>
#include <troupe/framework/internal/wire/kept_definitions.hpp>
#include <troupe/framework/internal/wire/packet.hpp>
#include <troupe/framework/node_errc.hpp>
#include <troupe/serializers/payload.hpp>

namespace troupe::internal {

/// A payload's header that the peer sends once and then names by number.
struct received_header {
  byte_vector bytes; // Viewed by `fields`.
  header_fields fields;
  const family* by = nullptr;                       // Null while this end does not accept the family.
  std::shared_ptr<const type_entry> type = nullptr; // Null if the registry did not have the type when the header came.
  traffic* counted_as = nullptr;                    // Null if `type` was not found, or nothing is counted.
};

/// Looks up the signatures and headers that the peer has numbered.
///
/// Threads: one; the parts that a message refers to may be read on any.
/// Every failure is `protocol_violation`.
class received_dictionary {
public:
  /// `counts` counts payloads by family and type; if it is null, nothing is counted. Both must outlive this object.
  received_dictionary(const acceptance& accepted, traffic_table* counts) : accepted_(accepted), counts_(counts) {}

  /// Add the definition in a packet's body. Its number has to be the next one.
  std::expected<const signature*, node_error> add_signature(bytes_view body);
  std::expected<const received_header*, node_error> add_header(bytes_view body);

  /// Returns null for a number that the peer has not defined.
  [[nodiscard]] const signature* find_signature(std::uint64_t number) const {
    return number < signatures_->size() ? &(*signatures_)[static_cast<std::size_t>(number)] : nullptr;
  }
  [[nodiscard]] std::size_t signatures() const noexcept { return signatures_->size(); }
  /// Keeps all signatures alive for messages that outlive the link.
  [[nodiscard]] const std::shared_ptr<std::deque<signature>>& signatures_kept() const noexcept { return signatures_; }

  [[nodiscard]] std::expected<const received_header*, node_error> header(std::uint64_t number) const;
  /// Calls `tell` with each definition, as the body of its packet.
  void each(const std::function<void(packet_kind, byte_vector)>& tell) const;
  [[nodiscard]] std::size_t headers() const noexcept { return headers_.size(); }

  /// Reads a header that has no number. Refuses a family that is not accepted, before that family decodes anything.
  [[nodiscard]] std::expected<received_header, node_error> admit(bytes_view header) const;

  /// To be called when the accepted families have changed.
  void review();

  /// Drops the headers when nothing is decoded any more. Signatures stay as long as messages have them.
  void forget_headers() { headers_.clear(); }

private:
  std::expected<void, node_error> charge(std::size_t size_bytes);

  const acceptance& accepted_;
  traffic_table* const counts_;
  const std::shared_ptr<std::deque<signature>> signatures_ = std::make_shared<std::deque<signature>>();
  std::vector<std::unique_ptr<received_header>> headers_;
  kept_definitions kept_; // Counts signatures and headers together.
};

} // namespace troupe::internal
