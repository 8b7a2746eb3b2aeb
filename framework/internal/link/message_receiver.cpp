#include <troupe/framework/internal/link/message_receiver.hpp>

#include <algorithm>
#include <any>
#include <array>
#include <cassert>
#include <string>
#include <utility>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/caf_port/asker.hpp>
#include <troupe/framework/internal/caf_port/message_view.hpp>
#include <troupe/framework/internal/caf_port/question_id.hpp>
#include <troupe/framework/internal/flow/behind_handles.hpp>
#include <troupe/framework/internal/words/failing.hpp>

namespace troupe::internal {

namespace {

// A message with more elements is read element by element.
constexpr std::size_t plain_elements_max = 8;

void end_trace(const message_notes& notes, const node_error& reason) {
  if (notes.trace)
    notes.trace->fails(reason.message());
}

std::unexpected<node_error> too_many_bytes(bytes_view message, const packet_reader& in) {
  return violation("message of " + grouped(message.size()) + " bytes has " + grouped(in.rest().size()) + " too many");
}

/// Returns nullopt if one of the elements is not plain.
std::optional<std::array<plain_element, plain_elements_max>> read_plain_elements(packet_reader& in, std::size_t count) {
  std::array<plain_element, plain_elements_max> elements;
  for (auto& each : std::span{elements}.first(count)) {
    const auto plain = read_plain_element(in);
    if (!plain)
      return std::nullopt;
    each = *plain;
  }
  return elements;
}

} // namespace

/// Fails for flags that this version does not know, or that the link has not agreed on.
std::expected<void, node_error> message_receiver::admit_flags(std::uint8_t flags) const {
  if (const auto unknown = flags & binding_flags & ~message_flags::known; unknown != 0)
    return violation("a message has flags " + std::to_string(unknown)
                     + ", which are mandatory, and this version does not know them");
  if ((flags & message_flags::extended) != 0 && !terms_->takes_extensions)
    return violation("a message has an extension map, and the two ends have not agreed on the feature \"extensions\"");
  return {};
}

std::expected<void, node_error> message_receiver::on_message(std::uint8_t flags, bytes_view body) {
  arrival what;
  auto taken = take_message(what, flags, body);
  if (taken)
    what.question.answered();
  return taken;
}

std::expected<void, node_error> message_receiver::on_value(std::uint8_t flags, bytes_view body) {
  arrival what;
  auto taken = take_value(what, flags, body);
  if (taken)
    what.question.answered();
  return taken;
}

std::expected<void, node_error> message_receiver::find_route(arrival& what) {
  auto found = of_.routes.find(what.head, what.question);
  if (!found)
    return std::unexpected{std::move(found).error()};
  what.route = *found;
  return {};
}

std::expected<void, node_error> message_receiver::take_message(arrival& what, std::uint8_t flags, bytes_view body) {
  constexpr auto needs_no_look =
      message_flags::urgent | message_flags::request | message_flags::response | message_flags::returned;
  if ((flags & ~needs_no_look) != 0)
    if (auto admitted = admit_flags(flags); !admitted)
      return admitted;
  packet_reader in{body};
  const auto* const types = read_head(what, in, flags, body);
  if (types == nullptr)
    return violation("cannot read the head of a message packet of " + grouped(body.size())
                     + " bytes, or it names signature " + grouped(what.head.signature) + " of "
                     + grouped(of_.known.signatures()));
  if (auto found = find_route(what); !found)
    return found;
  const auto size = types->entries.size();
  if (size == types->aliases.size() && size - 1 < plain_elements_max && what.route->way_on() == nullptr
      && !of_.incoming.is_described()) {
    auto rest = in;
    const auto take = [&](std::span<const plain_element> elements) -> std::expected<void, node_error> {
      if (!rest.finished())
        return too_many_bytes(body, rest);
      return on_plain(what, *types, elements, body.size());
    };
    if (size == 1) {
      if (const auto plain = read_plain_element(rest)) {
        expect_like(what, *types, *plain);
        return take(std::span{&*plain, 1});
      }
    } else if (const auto several = read_plain_elements(rest, size)) {
      return take(std::span{*several}.first(size));
    }
  }
  return on_elements(what, *types, in, body);
}

/// Returns null if the bytes are no head, or the signature is not known.
const signature* message_receiver::read_head(arrival& what, packet_reader& in, std::uint8_t flags, bytes_view body) {
  if (last_.begins(flags, body)) {
    in.skip(last_.size_bytes);
    what.head = last_.head;
    what.begins_as_last = true;
    return last_.types;
  }
  what.head = read_message_head(in, flags);
  const auto* const types = of_.known.find_signature(what.head.signature);
  if (!in.ok() || types == nullptr)
    return nullptr;
  // Signatures stay, so the same bytes keep their meaning. Heads with a request number are never equal.
  const auto size_bytes = body.size() - in.rest().size();
  constexpr auto differs = message_flags::request | message_flags::response | message_flags::extended;
  if ((flags & differs) == 0 && size_bytes <= last_.bytes.size()) {
    std::ranges::copy(body.first(size_bytes), last_.bytes.begin());
    last_.size_bytes = size_bytes;
    last_.head = what.head;
    last_.types = types;
    run_.forget();
    run_header_ = 0;
  }
  return types;
}

/// Handles what most messages are: a few plain elements.
std::expected<void, node_error> message_receiver::on_plain(arrival& what, const signature& types,
                                                           std::span<const plain_element> elements,
                                                           std::size_t body_bytes) {
  const auto& head = what.head;
  auto owed = terms_->account.charge(head, body_bytes + message_cost_bytes);
  if (!owed)
    return std::unexpected{std::move(owed).error()};
  add_alone(of_.received, 1);
  if (!is_deliverable(what, body_bytes, *owed))
    return {};
  if (!head.extensions.empty()) [[unlikely]]
    of_.traces.receive(what.notes.trace, head, types.aliases, body_bytes);
  message_under_construction built{types, *std::move(owed)};
  auto values_take = of_.decoder.decode(elements, types, built);
  auto decoded = values_take ? charge_understated(head, body_bytes + message_cost_bytes, *values_take, built)
                             : std::unexpected{std::move(values_take).error()};
  if (!decoded) {
    end_trace(what.notes, decoded.error());
    return give_up(
        *what.route, head, types, [&] { return dead_letter_writer::values_of(elements, of_.known); },
        std::move(decoded).error());
  }
  if (what.notes.trace) [[unlikely]]
    if (const auto header = of_.known.header(elements.front().header_number))
      what.notes.trace->set_family((*header)->fields.family);
  return of_.deliveries.deliver(*what.route, head, types.kind, std::move(built), {}, std::move(what.notes));
}

/// Prepares on_run() for more messages of this kind.
void message_receiver::expect_like(const arrival& what, const signature& types, const plain_element& element) {
  constexpr auto differs = message_flags::extended | message_flags::returned;
  if (!what.begins_as_last || (what.head.flags & differs) != 0 || !delivery::is_ordinary(types.kind)
      || run_header_ == element.header_number)
    return;
  run_.learn(what.head.flags, std::span{last_.bytes}.first(last_.size_bytes), element.header_number);
  run_header_ = element.header_number;
}

std::expected<handled_packets, node_error> message_receiver::on_run(bytes_view bytes, int packets_max) {
  handled_packets handled;
  auto next = run_.first_of(bytes);
  if (!next || of_.incoming.is_described())
    return handled;
  const auto& types = *last_.types;
  const auto header = of_.known.header(run_header_);
  if (!header || !value_decoder::reads(**header, *types.entries[0]))
    return handled; // on_message() reports the reason.
  taken_question none;
  const auto route = of_.routes.find(last_.head, none);
  if (!route)
    return std::unexpected{route.error()};
  assert((*route)->way_on() == nullptr); // As before: a number stands for one actor as long as the link lives.
  for (;;) {
    if (auto taken = on_one_of_run(**route, **header, *next); !taken)
      return std::unexpected{std::move(taken).error()};
    handled.size_bytes += next->size_bytes;
    if (++handled.packets == packets_max)
      return handled;
    next = run_.first_of(bytes.subspan(handled.size_bytes));
    if (!next)
      return handled;
    of_.routes.found_again();
  }
}

std::expected<void, node_error> message_receiver::on_one_of_run(message_route& route, const received_header& header,
                                                                const message_run::packet& packet) {
  const auto& head = last_.head;
  const auto& types = *last_.types;
  const auto cost = packet.size_bytes - packet_head_bytes + message_cost_bytes;
  auto owed = terms_->account.charge(head, cost);
  if (!owed)
    return std::unexpected{std::move(owed).error()};
  add_alone(of_.received, 1);
  message_under_construction built{types, *std::move(owed)};
  auto values_take = of_.decoder.decode(header, *types.entries[0], packet.value, built);
  auto decoded = values_take ? charge_understated(head, cost, *values_take, built)
                             : std::unexpected{std::move(values_take).error()};
  if (!decoded)
    return give_up(
        route, head, types,
        [&] {
          return dead_letter_writer::values_of(std::array{plain_element{run_header_, packet.value}}, of_.known);
        },
        std::move(decoded).error());
  of_.deliveries.deliver_ordinary(route, head, std::move(built));
  return {};
}

std::expected<void, node_error> message_receiver::on_elements(arrival& what, const signature& types, packet_reader& in,
                                                              bytes_view body) {
  const auto& head = what.head;
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
  // Bytes beyond the limit are not decompressed.
  const auto taken = std::min<std::uint64_t>(beside->decompressed_bytes, of_.accepted.bounds().decompressed_bytes);
  if (!is_deliverable(what,
                      body.size() + beside->chunk_bytes + taken + account.share_of_window(beside->behind_handles.bytes),
                      *owed))
    return {};
  if (!head.extensions.empty() && what.route->way_on() == nullptr)
    of_.traces.receive(what.notes.trace, head, types.aliases, cost);
  if (auto forwarded = forward(what, types, *owed); !forwarded || *forwarded)
    return forwarded ? std::expected<void, node_error>{} : std::unexpected{std::move(forwarded).error()};
  // A message that is forwarded to another node counts as consumed when it has left.
  const auto goes_on = what.route->way_on() != nullptr;
  message_under_construction built{types, goes_on ? owed->of_copy() : noted(*std::move(owed))};
  auto values_take = of_.decoder.decode(of_.incoming.elements(), types, built);
  if (!values_take) {
    end_trace(what.notes, values_take.error());
    auto given_up = give_up(
        *what.route, head, types, [&] { return dead_letter_writer::values_of(of_.incoming, of_.known); },
        std::move(values_take).error());
    reading.end();
    return given_up;
  }
  if (what.notes.trace && !of_.incoming.elements().empty())
    if (const auto header = of_.incoming.elements().front().header(of_.known))
      what.notes.trace->set_family((*header)->fields.family);
  reading.end();
  if (auto charged = charge_understated(head, cost + beside->behind_handles.bytes, *values_take, built); !charged) {
    end_trace(what.notes, charged.error());
    return give_up(
        *what.route, head, types, [] { return std::vector<serialized>{}; }, std::move(charged).error());
  }
  return of_.deliveries.deliver(*what.route, head, types.kind, std::move(built), goes_on ? *std::move(owed) : receipt{},
                                std::move(what.notes));
}

std::expected<void, node_error> message_receiver::take_value(arrival& what, std::uint8_t flags, bytes_view body) {
  if (auto admitted = admit_flags(flags); !admitted)
    return admitted;
  packet_reader in{body};
  auto& head = what.head = read_message_head(in, flags);
  const auto size_bytes = in.varint();
  if (!in.finished() || !terms_->values)
    return violation("cannot read the packet of an in-process message, or the link is not in-process");
  auto value = terms_->values->pop();
  auto* content = std::any_cast<caf::message>(&value);
  if (content == nullptr)
    return violation("an in-process packet came without its message");
  if (auto found = find_route(what); !found)
    return found;
  auto owed = terms_->account.charge(head, body.size() + size_bytes + message_cost_bytes);
  if (!owed)
    return std::unexpected{std::move(owed).error()};
  add_alone(of_.received, 1);
  if (!is_deliverable(what, body.size() + size_bytes, *owed))
    return {};
  if (!head.extensions.empty() && what.route->way_on() == nullptr)
    of_.traces.receive(what.notes.trace, head, message_view{*content}, body.size());
  of_.passed_counts.count(message_view{*content}, size_bytes);
  of_.deliveries.deliver(*what.route, head, std::move(*content), *std::move(owed), std::move(what.notes));
  return {};
}

/// Returns true if the message was forwarded undecoded. Requires: all its frames are claimed.
std::expected<bool, node_error> message_receiver::forward(const arrival& what, const signature& types, receipt& owed) {
  if (what.route->way_on() == nullptr)
    return false;
  const auto& head = what.head;
  if (types.kind == message_kind::exit)
    if (auto admitted = of_.deliveries.admit_exit(head); !admitted)
      return std::unexpected{std::move(admitted).error()};
  const auto undecoded = of_.incoming.undecoded(types, head.extensions, of_.known);
  if (!undecoded)
    return std::unexpected{undecoded.error()};
  if (!*undecoded || !of_.deliveries.forward(*what.route, head, **undecoded, owed))
    return false;
  of_.forwarded.fetch_add(1, std::memory_order_relaxed);
  return true;
}

/// Returns the receipt of the message. The objects that it names stay listed until the receipt is settled.
receipt message_receiver::noted(receipt owed) {
  auto named = of_.incoming.named_objects();
  if (named.empty())
    return owed;
  return of_.pending.note(std::move(named), std::move(owed), of_.known.signatures_kept());
}

/// Charges what the values take beyond the message's cost, which the peer should have stated.
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

/// Returns true if the receiver is to get the message; otherwise counts it.
bool message_receiver::is_deliverable(arrival& what, std::uint64_t cost, receipt& owed) {
  if (what.route->is_unasked()) {
    of_.deliveries.refuse_unasked();
    return false;
  }
  if (is_over(what)) {
    of_.deliveries.refuse_expired(*what.route, what.head);
    return false;
  }
  if (is_repeated(what))
    return false;
  return (what.head.flags & message_flags::response) == 0 || take_question(what, cost, owed);
}

/// Returns true if the request was sent before, and must not be handled again. Then its sender gets an answer, now or
/// later.
bool message_receiver::is_repeated(arrival& what) {
  const auto& route = *what.route;
  if (!terms_->takes_identities || (what.head.flags & message_flags::request) == 0 || what.head.extensions.empty()
      || route.way_on() != nullptr || as_proxy(route.sender()) == nullptr)
    return false;
  const auto identity = read_request_identity(what.head.extensions);
  if (!identity)
    return false;
  const auto urgent = (what.head.flags & message_flags::urgent) != 0;
  auto admitted = of_.answers->begin(
      *identity,
      {.actor = route.sender(),
       .answer = message_id_of(what.head.request_number, urgent, true),
       .asked = caf::actor_cast<caf::weak_actor_ptr>(route.receiver())},
      answer_memory::clock::now());
  using verdict = answer_memory::verdict;
  if (admitted.what == verdict::answered)
    of_.deliveries.answer_again(route, what.head, admitted.answer);
  else if (admitted.what == verdict::may_be_forgotten)
    of_.deliveries.refuse_forgotten(route, what.head);
  else if (admitted.is_kept)
    what.notes.answers_to = std::make_shared<answer_slot>(of_.answers, identity->key);
  return admitted.what != verdict::handle;
}

/// Answers a message that cannot be decoded. `values` reads its elements for a dead letter.
std::expected<void, node_error> message_receiver::give_up(const message_route& route, const message_head& head,
                                                          const signature& types,
                                                          const dead_letter_writer::read_values& values,
                                                          node_error reason) {
  if (of_.letters.is_wanted() && reason.code() != node_errc::protocol_violation)
    of_.letters.not_delivered(head, types, values, reason);
  return of_.deliveries.give_up(route, head, std::move(reason));
}

/// Notes the deadline of a request; returns true if it has passed.
bool message_receiver::is_over(arrival& what) const {
  if ((what.head.flags & message_flags::request) == 0 || !find_deadline(what.head.extensions))
    return false;
  const auto now = std::chrono::steady_clock::now();
  what.notes.deadline = read_time_left(what.head.extensions, now);
  return what.notes.deadline && *what.notes.deadline <= now;
}

/// `since`: when the request left; zero: it was a task.
void message_receiver::measure_round_trip(std::chrono::steady_clock::time_point since) {
  if (of_.round_trips == nullptr || since == std::chrono::steady_clock::time_point{})
    return;
  if (const auto stands_for = timed_answers_.next(); stands_for != 0)
    of_.round_trips->add(std::chrono::steady_clock::now() - since, stands_for);
}

/// Returns true if the response answers a pending request of this end.
bool message_receiver::take_question(arrival& what, std::uint64_t cost, receipt& owed) {
  auto& head = what.head;
  const question_key key{head.receiver, head.request_number};
  cost = terms_->account.cost_of(head, cost);
  auto held = of_.mutex.lock();
  auto answered = of_.asked.take_answered(key, head.sender, cost);
  held.unlock();
  if (!answered) {
    of_.deliveries.refuse_answer();
    return false;
  }
  measure_round_trip(answered->since);
  auto& asked = answered->asker;
  if (asked.forwarded_for)
    as_asker(asked.forwarded_for)->excuse();
  // CAF matches the answer by the priority of the request, whatever the peer says.
  head.flags =
      static_cast<std::uint8_t>((head.flags & ~message_flags::urgent) | (asked.urgent ? message_flags::urgent : 0));
  if (asked.call && what.route->way_on() != nullptr) { // The answer to a request that an actor here has delegated.
    asked.call->ends();
  } else if (asked.call) {
    what.notes.trace = asked.call;
    what.notes.trace->answered();
  }
  what.question.take(of_.asked, of_.mutex, key, head.sender, std::move(asked));
  owed = of_.replies.issue(cost);
  return true;
}

} // namespace troupe::internal
