#include <troupe/framework/internal/link/message_receiver.hpp>

#include <algorithm>
#include <any>
#include <string>
#include <utility>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/caf_port/asker.hpp>
#include <troupe/framework/internal/caf_port/messages.hpp>
#include <troupe/framework/internal/flow/behind_handles.hpp>
#include <troupe/framework/internal/words/failing.hpp>

namespace troupe::internal {

namespace {

std::unexpected<node_error> too_many_bytes(bytes_view message, const packet_reader& in) {
  return violation("message of " + grouped(message.size()) + " bytes has " + grouped(in.rest().size()) + " too many");
}

} // namespace

/// Flags that this version does not know, or that the link has not agreed on.
std::expected<void, node_error> message_receiver::admit_flags(std::uint8_t flags) const {
  if (const auto unknown = flags & binding_flags & ~message_flags::known; unknown != 0)
    return violation("a message has flags " + std::to_string(unknown)
                     + ", which have to be understood, and this version does not know them");
  if ((flags & message_flags::extended) != 0 && !terms_->takes_extensions)
    return violation("a message has an extension map, and the two ends have not agreed on the feature \"extensions\"");
  return {};
}

std::expected<void, node_error> message_receiver::on_message(std::uint8_t flags, bytes_view body) {
  constexpr auto needs_no_look =
      message_flags::urgent | message_flags::request | message_flags::response | message_flags::returned;
  if ((flags & ~needs_no_look) != 0)
    if (auto admitted = admit_flags(flags); !admitted)
      return admitted;
  packet_reader in{body};
  auto head = read_message_head(in, flags);
  const auto* const types = of_.known.find_signature(head.signature);
  if (!in.ok() || types == nullptr)
    return violation("message head of a packet of " + grouped(body.size())
                     + " bytes cannot be read, or names signature " + grouped(head.signature) + " of "
                     + grouped(of_.known.signatures()));
  if (auto found = of_.deliveries.find(head); !found)
    return found;
  if (types->entries.size() == 1 && types->aliases.size() == 1 && of_.deliveries.way_on() == nullptr
      && !of_.incoming.is_described())
    if (const auto plain = read_plain_element(in)) {
      if (!in.finished())
        return too_many_bytes(body, in);
      return on_plain(head, *types, *plain, body.size());
    }
  return on_elements(head, *types, in, body);
}

/// What most messages are: one plain element.
std::expected<void, node_error> message_receiver::on_plain(message_head& head, const signature& types,
                                                           const plain_element& element, std::size_t body_bytes) {
  auto owed = terms_->account.charge(head, body_bytes + message_cost_bytes);
  if (!owed)
    return std::unexpected{std::move(owed).error()};
  add_alone(of_.received, 1);
  if (!is_deliverable(head, body_bytes, *owed))
    return {};
  message_under_construction built{types, *std::move(owed)};
  auto values_take = of_.decoder.decode(element, types, built);
  auto decoded = values_take ? charge_understated(head, body_bytes + message_cost_bytes, *values_take, built)
                             : std::unexpected{std::move(values_take).error()};
  if (!decoded)
    return of_.deliveries.give_up(head, std::move(decoded).error());
  return of_.deliveries.deliver(head, types.type_token, std::move(built));
}

std::expected<void, node_error> message_receiver::on_elements(message_head& head, const signature& types,
                                                              packet_reader& in, bytes_view body) {
  incoming_message::reading reading{of_.incoming};
  const auto frames_are_repeated = (head.flags & message_flags::repeated) != 0 && terms_->takes_repeated_frames;
  auto beside = of_.incoming.read(in, types.aliases.size(), frames_are_repeated);
  if (!beside)
    return std::unexpected{std::move(beside).error()};
  if (!in.finished())
    return too_many_bytes(body, in);
  const auto cost =
      body.size() + beside->chunk_bytes + beside->decompressed_bytes + beside->mention_bytes + message_cost_bytes;
  auto& account = terms_->account;
  auto owed = account.charge(head, cost);
  if (owed)
    owed = account.charge(head, *std::move(owed), beside->behind_handles);
  if (!owed)
    return std::unexpected{std::move(owed).error()};
  add_alone(of_.received, 1);
  // Beyond the limit it is not decompressed.
  const auto taken = std::min<std::uint64_t>(beside->decompressed_bytes, of_.accepted.bounds().decompressed_bytes);
  if (!is_deliverable(head,
                      body.size() + beside->chunk_bytes + taken + account.share_of_window(beside->behind_handles.bytes),
                      *owed))
    return {};
  if (auto passed_on = pass_on(head, types, *owed); !passed_on || *passed_on)
    return passed_on ? std::expected<void, node_error>{} : std::unexpected{std::move(passed_on).error()};
  // What goes on to another node is consumed when it has left.
  const auto goes_on = of_.deliveries.way_on() != nullptr;
  message_under_construction built{types, goes_on ? owed->of_copy() : noted(*std::move(owed))};
  auto values_take = of_.decoder.decode(of_.incoming.elements(), types, built);
  reading.end();
  auto decoded = values_take ? charge_understated(head, cost + beside->behind_handles.bytes, *values_take, built)
                             : std::unexpected{std::move(values_take).error()};
  if (!decoded)
    return of_.deliveries.give_up(head, std::move(decoded).error());
  return of_.deliveries.deliver(head, types.type_token, std::move(built), goes_on ? *std::move(owed) : receipt{});
}

std::expected<void, node_error> message_receiver::on_value(std::uint8_t flags, bytes_view body) {
  if (auto admitted = admit_flags(flags); !admitted)
    return admitted;
  packet_reader in{body};
  auto head = read_message_head(in, flags);
  const auto size_bytes = in.varint();
  if (!in.finished() || !terms_->values)
    return violation("the packet of a message that goes beside the bytes cannot be read, or there is no beside");
  auto value = terms_->values->pop();
  auto* content = std::any_cast<caf::message>(&value);
  if (content == nullptr)
    return violation("no message came with its packet");
  if (auto found = of_.deliveries.find(head); !found)
    return found;
  auto owed = terms_->account.charge(head, body.size() + size_bytes + message_cost_bytes);
  if (!owed)
    return std::unexpected{std::move(owed).error()};
  add_alone(of_.received, 1);
  if (!is_deliverable(head, body.size() + size_bytes, *owed))
    return {};
  of_.passed_counts.count(*content, size_bytes);
  of_.deliveries.deliver(head, std::move(*content), *std::move(owed));
  return {};
}

/// True where the message was passed on undecoded, and nothing is left to do. Requires: all of it is claimed.
std::expected<bool, node_error> message_receiver::pass_on(const message_head& head, const signature& types,
                                                          receipt& owed) {
  if (of_.deliveries.way_on() == nullptr)
    return false;
  if (is_only<caf::exit_msg>(types, of_.accepted.types()))
    if (auto admitted = of_.deliveries.admit_exit(head); !admitted)
      return std::unexpected{std::move(admitted).error()};
  const auto undecoded = of_.incoming.undecoded(types, head.extensions, of_.known);
  if (!undecoded)
    return std::unexpected{undecoded.error()};
  if (!*undecoded || !of_.deliveries.pass_on(head, **undecoded, owed))
    return false;
  of_.forwarded.fetch_add(1, std::memory_order_relaxed);
  return true;
}

/// The receipt of the message that has been read: until it is consumed, what it names is listed.
receipt message_receiver::noted(receipt owed) {
  auto named = of_.incoming.named_objects();
  if (named.empty())
    return owed;
  return of_.pending.note(std::move(named), std::move(owed), of_.known.signatures_kept());
}

/// What its values take beyond what the message cost, by a peer that should have stated it.
std::expected<void, node_error> message_receiver::charge_understated(const message_head& head, std::uint64_t cost,
                                                                     std::size_t values_take,
                                                                     message_under_construction& message) {
  auto owed = terms_->account.charge_understated(head, cost, values_take);
  if (!owed)
    return std::unexpected{std::move(owed).error()};
  if (*owed)
    message.owe(**std::move(owed), of_.known.signatures_kept());
  return {};
}

/// Whether the receiver is to get it; else it is counted.
bool message_receiver::is_deliverable(message_head& head, std::uint64_t cost, receipt& owed) {
  if (of_.deliveries.is_unasked()) {
    of_.deliveries.refuse_unasked();
    return false;
  }
  return (head.flags & message_flags::response) == 0 || take_question(head, cost, owed);
}

/// Whether the response answers something that was asked here.
bool message_receiver::take_question(message_head& head, std::uint64_t cost, receipt& owed) {
  cost = terms_->account.cost_of(head, cost);
  auto held = of_.mutex.lock();
  const auto asked = of_.asked.take_answered({head.receiver, head.request_number}, head.sender, cost);
  held.unlock();
  if (!asked) {
    of_.deliveries.refuse_answer();
    return false;
  }
  if (asked->forwarded_for)
    as_asker(asked->forwarded_for)->settle();
  // As it was asked, whatever the peer says: CAF knows the answer by that.
  head.flags =
      static_cast<std::uint8_t>((head.flags & ~message_flags::urgent) | (asked->urgent ? message_flags::urgent : 0));
  of_.deliveries.note_answer(head);
  owed = of_.replies.issue(cost);
  return true;
}

} // namespace troupe::internal
