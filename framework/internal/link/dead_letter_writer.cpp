#include <troupe/framework/internal/link/dead_letter_writer.hpp>

#include <chrono>
#include <span>
#include <utility>

#include <troupe/framework/internal/caf_port/actor_handles.hpp>
#include <troupe/framework/internal/caf_port/asker.hpp>
#include <troupe/framework/internal/caf_port/message_view.hpp>

namespace troupe::internal {

namespace {

serialized payload_of(bytes_view header, std::vector<frame> frames) {
  return serialized{payload{frame::copy_of(header), std::move(frames)}};
}

} // namespace

dead_letter dead_letter_writer::begin(const node_error& why) const {
  const auto& peer = link_.agreed().peer;
  dead_letter letter;
  letter.peer = peer.name;
  letter.peer_version = to_string(peer.version);
  letter.link = number_;
  letter.reason = why.code();
  letter.reason_text = why.message();
  return letter;
}

/// A letter that cannot be written, for lack of memory or because a user's codec throws, must not keep a requester from
/// being told of the failure.
template <class Write>
void dead_letter_writer::try_to(Write&& write) const noexcept {
  try {
    if (box_.has_room())
      return write();
  } catch (...) { // Counted as lost.
  }
  box_.note_lost();
}

void dead_letter_writer::not_sent(std::uint64_t receiver, const caf::mailbox_element& message,
                                  const node_error& why) const noexcept {
  const message_view content{message};
  if (message.mid.is_response() || content.kind() != message_kind::ordinary)
    return;
  try_to([&] {
    auto letter = begin(why);
    letter.receiver = receiver;
    letter.sender = message.sender ? itself(message.sender)->id() : 0;
    letter.is_request = message.mid.is_request();
    box_.put(std::move(letter), content, itself(message.sender));
  });
}

void dead_letter_writer::not_sent(const packed_message& message, const node_error& why) const noexcept {
  if (!message.kept || !message.kept->element)
    return;
  const auto& element = *message.kept->element;
  const message_view content{element};
  if (element.mid.is_response() || content.kind() != message_kind::ordinary)
    return;
  try_to([&] {
    auto letter = begin(why);
    letter.receiver = message.receiver;
    letter.sender = message.sender;
    letter.is_request = (message.flags & message_flags::request) != 0;
    letter.age = std::chrono::steady_clock::now() - message.kept->since;
    box_.put(std::move(letter), content, itself(element.sender));
  });
}

void dead_letter_writer::not_delivered(const message_head& head, const signature& types, const read_values& values,
                                       const node_error& why) const noexcept {
  if ((head.flags & message_flags::response) != 0 || types.kind != message_kind::ordinary)
    return;
  try_to([&] {
    auto letter = begin(why);
    letter.has_arrived = true;
    letter.receiver = head.receiver;
    letter.sender = head.sender;
    letter.is_request = (head.flags & message_flags::request) != 0;
    letter.types = types.aliases;
    letter.values = values();
    box_.put(std::move(letter), nullptr);
  });
}

std::vector<serialized> dead_letter_writer::values_of(incoming_message& message, const received_dictionary& known) {
  std::vector<serialized> values;
  std::size_t bytes = 0;
  for (auto& element : message.elements()) {
    const auto header = element.header(known);
    if (!header || element.lost || !element.actors.empty() || !element.objects.empty())
      return {};
    if ((bytes += (*header)->bytes.size()) > dead_letter_values_max)
      return {};
    std::vector<frame> frames;
    for (const auto& each : element.frames) {
      if ((bytes += each.size_bytes()) > dead_letter_values_max)
        return {};
      frames.push_back(frame::copy_of(each.bytes())); // So that the letter keeps no larger block alive.
    }
    values.push_back(payload_of((*header)->bytes, std::move(frames)));
  }
  return values;
}

std::vector<serialized> dead_letter_writer::values_of(std::span<const plain_element> elements,
                                                      const received_dictionary& known) {
  std::vector<serialized> values;
  std::size_t bytes = 0;
  for (const auto& element : elements) {
    const auto header = known.header(element.header_number);
    if (!header || (bytes += (*header)->bytes.size() + element.body.size()) > dead_letter_values_max)
      return {};
    values.push_back(payload_of((*header)->bytes, {frame::copy_of(element.body)}));
  }
  return values;
}

} // namespace troupe::internal
