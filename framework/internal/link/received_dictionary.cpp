#include <troupe/framework/internal/link/received_dictionary.hpp>

#include <string>
#include <utility>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/words/failing.hpp>

namespace troupe::internal {

/// Definitions stay as long as the link, so their total size is bounded.
std::expected<void, node_error> received_dictionary::charge(std::size_t size_bytes) {
  const auto has_room = kept_.has_room_for(size_bytes);
  kept_.add(size_bytes);
  if (!has_room)
    return violation("headers and signatures of " + grouped(kept_.bytes()) + " bytes, limit "
                     + grouped(kept_definitions::bytes_max));
  return {};
}

std::expected<const signature*, node_error> received_dictionary::add_signature(bytes_view body) {
  auto definition = read_signature(body);
  auto due = signatures_->size();
  if (!definition || definition->number != due || definition->number >= kept_definitions::signatures_max)
    return violation("signature " + (definition ? grouped(definition->number) : "?") + " cannot be read or is not the "
                     + grouped(due) + "th, limit " + grouped(kept_definitions::signatures_max));
  if (auto charged = charge(kept_definitions::bytes_of_signature(body.size(), definition->aliases.size())); !charged)
    return std::unexpected{std::move(charged).error()};
  return &signatures_->emplace_back(resolve_signature(definition->aliases, accepted_.types()));
}

std::expected<const received_header*, node_error> received_dictionary::add_header(bytes_view body) {
  auto definition = read_header(body);
  const auto due = headers_.size() + 1;
  if (!definition || definition->number != due)
    return violation("header " + (definition ? grouped(definition->number) : "?") + " cannot be read or is not the "
                     + grouped(due) + "th");
  if (auto charged = charge(kept_definitions::bytes_of_header(body.size())); !charged)
    return std::unexpected{std::move(charged).error()};
  auto admitted = admit(definition->header);
  if (!admitted)
    return std::unexpected{std::move(admitted).error()};
  const auto& fields = admitted->fields;
  if (!fields.frame_codecs.empty() || !fields.frame_pieces.empty() || !fields.frame_repeats.empty())
    return violation("a header that has a number says which frames are compressed, pieces, or repeated");
  return headers_.emplace_back(std::make_unique<received_header>(*std::move(admitted))).get();
}

std::expected<received_header, node_error> received_dictionary::admit(bytes_view header) const {
  received_header result{.bytes = {header.begin(), header.end()}};
  auto fields = parse_header(result.bytes, accepted_.bounds());
  if (!fields)
    return violation("a payload's header cannot be read: " + fields.error().message());
  result.fields = *fields; // Views of result.bytes, whose memory keeps its address when it is moved.
  auto by = accepted_.check(fields->family);
  if (!by)
    return std::unexpected{std::move(by).error()};
  result.by = *by;
  if (const auto* type = accepted_.types().find(fields->type)) {
    result.type = type->shared_from_this();
    if (counts_ != nullptr)
      result.counted_as = &counts_->of(result.by->name(), type->alias());
  }
  return result;
}

void received_dictionary::each(const std::function<void(packet_kind, byte_vector)>& tell) const {
  for (std::size_t i = 0; i < signatures_->size(); ++i) {
    byte_vector body;
    append_signature(body, {.number = i, .aliases = (*signatures_)[i].aliases});
    tell(packet_kind::signature, std::move(body));
  }
  for (std::size_t i = 0; i < headers_.size(); ++i) {
    byte_vector body;
    append_header(body, {i + 1, headers_[i]->bytes});
    tell(packet_kind::header, std::move(body));
  }
}

std::expected<const received_header*, node_error> received_dictionary::header(std::uint64_t number) const {
  if (number == 0 || number > headers_.size())
    return violation("an element names header " + grouped(number) + " of " + grouped(headers_.size()));
  const auto* header = headers_[static_cast<std::size_t>(number - 1)].get();
  if (header->by == nullptr) // Not accepted any more.
    return std::unexpected{accepted_.check(header->fields.family).error()};
  return header;
}

void received_dictionary::review() {
  for (auto& header : headers_)
    header->by = accepted_.check(header->fields.family).value_or(nullptr);
}

} // namespace troupe::internal
