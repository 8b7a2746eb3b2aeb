// Turns a link's undelivered messages into dead letters.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <troupe/framework/internal/caf_port/decoded_message.hpp>
#include <troupe/framework/internal/caf_port/messages.hpp>
#include <troupe/framework/internal/link/dead_letter_box.hpp>
#include <troupe/framework/internal/link/incoming_message.hpp>
#include <troupe/framework/internal/link/link_common.hpp>
#include <troupe/framework/internal/link/packed_message.hpp>
#include <troupe/framework/internal/link/received_dictionary.hpp>
#include <troupe/framework/internal/wire/packet.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

/// Writes down which message a link could not deliver, and why. Answers, errors and messages about the end of actors
/// make no letters: their receivers learn of the failure by themselves.
///
/// Threads: any for not_sent(), the I/O thread for not_delivered(). Must not be called under the link's lock.
class dead_letter_writer {
public:
  /// Both must outlive this object. `number`: the link's.
  dead_letter_writer(const link_common& link, std::uint64_t number, dead_letter_box& box)
      : link_(link), number_(number), box_(box) {}

  /// Whether an actor wants letters. Cheap. If not, the other members need not be called.
  [[nodiscard]] bool is_wanted() const noexcept { return box_.is_open(); }

  void not_sent(std::uint64_t receiver, const caf::mailbox_element& message, const node_error& why) const noexcept;
  /// Does nothing for a message that this node only forwards undecoded.
  void not_sent(const packed_message& message, const node_error& why) const noexcept;

  using read_values = std::function<std::vector<serialized>()>;
  /// For a message that came and could not be decoded. `values` returns its elements.
  void not_delivered(const message_head& head, const signature& types, const read_values& values,
                     const node_error& why) const noexcept;
  /// The elements of an incoming message as payloads. Empty if one is missing, or mentions actors or objects.
  [[nodiscard]] static std::vector<serialized> values_of(incoming_message& message, const received_dictionary& known);
  [[nodiscard]] static std::vector<serialized> values_of(std::span<const plain_element> elements,
                                                         const received_dictionary& known);

private:
  [[nodiscard]] dead_letter begin(const node_error& why) const;
  template <class Write>
  void try_to(Write&& write) const noexcept;

  const link_common& link_;
  const std::uint64_t number_;
  dead_letter_box& box_;
};

} // namespace troupe::internal
