#include <troupe/serializers/internal/payload/elements_family.hpp>

#include <array>

#include <troupe/serializers/any_value.hpp>
#include <troupe/serializers/internal/coding/part_access.hpp>
#include <troupe/serializers/internal/payload/part_payloads.hpp>
#include <troupe/serializers/msgpack/described.hpp>
#include <troupe/serializers/type_entry.hpp>

namespace troupe::detail {

namespace {

std::unexpected<serialize_error> failure_at(const type_entry& entry, std::string_view place,
                                            const serialize_error& error) {
  return std::unexpected(
      serialize_error(error.code(), "elements: " + entry.alias() + std::string(place) + ": " + error.message()));
}

std::string place_of(std::size_t index, const part_access& access) {
  return "[" + std::to_string(index / access.parts_at_once) + "]";
}

/// The registry's entry, which knows more of the type. If there is none, the entry that came with the collection.
const type_entry& entry_of(const part_type& part, const context& ctx) {
  const auto* known = ctx.types == nullptr ? nullptr : ctx.types->find(part.entry->type());
  return known != nullptr ? *known : *part.entry;
}

/// The budget for the memory of the collection itself.
class collection_budget final : public decoding {
public:
  using decoding::decoding;
};

/// The memory that is charged for each part, without its content.
std::size_t element_bytes(const part_access& access) {
  return access.part_bytes + node_bytes;
}

std::size_t type_of(const part_access& access, std::size_t index, const std::string& name) {
  if (access.parts_at_once > 1)
    return index % access.parts_at_once;
  std::size_t type = 0;
  while (type < access.types.size() && access.types[type].name != name)
    ++type;
  return type;
}

/// The failure for a part whose type the value cannot have at that place.
std::unexpected<serialize_error> no_alternative(const type_entry& entry, const part_access& access,
                                                const parts_decoder& parts, std::size_t index) {
  return failure_at(entry, place_of(index, access),
                    {serialize_errc::layout_mismatch,
                     "'" + parts.name(index).substr(0, 100) + "' is no alternative of this variant"});
}

/// Opens the payload, and checks everything in it unless that has been done.
std::expected<parts_decoder, serialize_error> open_parts(const type_entry& entry, std::span<const frame> frames,
                                                         const context& ctx) {
  const auto* access = entry.parts();
  if (access == nullptr || frames.empty())
    return failure_at(entry, "", {serialize_errc::malformed, "no payload of a collection"});
  auto list = msgpack::decode_described<payload_parts>(frames[0].bytes(), ctx.limits);
  if (!list)
    return failure_at(entry, "", list.error());
  auto parts = parts_decoder::open(*std::move(list), frames.subspan(1), ctx);
  if (!parts)
    return failure_at(entry, "", parts.error());
  if (!access->complete(parts->size()))
    return failure_at(entry, "", {serialize_errc::malformed, "of " + grouped(parts->size()) + " parts"});
  for (std::size_t i = 0; i < parts->size() && !ctx.parts_are_checked; ++i) {
    const auto type = type_of(*access, i, parts->name(i));
    if (type == access->types.size())
      return no_alternative(entry, *access, *parts, i);
    if (auto done = parts->check(i, entry_of(access->types[type], ctx)); !done)
      return failure_at(entry, place_of(i, *access), done.error());
  }
  return parts;
}

} // namespace

const elements_family& elements_family::instance() {
  static const elements_family only;
  return only;
}

std::string elements_family::unsupported(const type_entry& entry) const {
  return entry.parts() != nullptr ? "" : "is no collection";
}

std::expected<void, serialize_error> elements_family::encode(const type_entry& entry, const void* value,
                                                             const context& ctx, encode_output& output) const {
  const auto* access = entry.parts();
  if (access == nullptr)
    return failure_at(entry, "", {serialize_errc::not_supported, unsupported(entry)});
  parts_encoder parts(ctx);
  std::expected<void, serialize_error> done;
  std::size_t index = 0;
  access->each(value, [&](std::size_t type, const void* part) {
    const auto& of = access->types[type];
    done = parts.add(of.name, entry_of(of, ctx), part);
    if (!done)
      done = failure_at(entry, place_of(index, *access), done.error());
    ++index;
    return done.has_value();
  });
  if (!done)
    return done;
  add_taken(ctx, parts.list().parts.size() * element_bytes(*access));
  output.body().append(msgpack::encode_described(parts.list()));
  for (auto& each : parts.take_frames())
    output.attach(std::move(each));
  return {};
}

std::expected<void, serialize_error> elements_family::check(const type_entry& entry, std::span<const frame> frames,
                                                            const context& ctx) const {
  const auto parts = open_parts(entry, frames, ctx);
  return parts ? std::expected<void, serialize_error>() : std::unexpected(parts.error());
}

std::expected<void, serialize_error> elements_family::decode(const type_entry& entry, void* target,
                                                             const header_fields&, std::span<const frame> frames,
                                                             const context& ctx) const {
  auto parts = open_parts(entry, frames, ctx);
  if (!parts)
    return std::unexpected(std::move(parts.error()));
  const auto* access = entry.parts();
  collection_budget budget(ctx, frames[0].size_bytes());
  access->clear(target);
  if (!budget.charge(parts->size(), element_bytes(*access)))
    return std::unexpected(budget.error(entry.alias(), name()));
  if (access->reserve != nullptr)
    access->reserve(target, parts->size());
  for (std::size_t i = 0; i < parts->size(); i += access->parts_at_once) {
    std::array<any_value, 2> made;
    std::array<void*, 2> places{};
    std::size_t type = 0;
    for (std::size_t k = 0; k < access->parts_at_once; ++k) {
      type = type_of(*access, i + k, parts->name(i + k));
      if (type == access->types.size())
        return no_alternative(entry, *access, *parts, i);
      const auto& of = entry_of(access->types[type], ctx);
      made[k] = any_value(of);
      if (auto done = parts->decode(i + k, of, made[k].data()); !done)
        return failure_at(entry, place_of(i, *access), done.error());
      made[k].complete(of);
      places[k] = made[k].data();
    }
    if (!access->put(budget, target, type, std::span(places).first(access->parts_at_once))) {
      static_cast<void>(budget.within(i / access->parts_at_once));
      return std::unexpected(budget.error(entry.alias(), name()));
    }
  }
  return {};
}

} // namespace troupe::detail
