#include <troupe/serializers/internal/payload/generic.hpp>

#include <algorithm>
#include <map>

#include <troupe/serializers/family.hpp>
#include <troupe/serializers/internal/payload/part_payloads.hpp>
#include <troupe/serializers/internal/words/failing.hpp>
#include <troupe/serializers/msgpack/described.hpp>
#include <troupe/serializers/type_entry.hpp>

namespace troupe::detail {

namespace {

/// The codec's part of the header.
struct generic_header {
  std::map<std::string, std::vector<std::byte>> small; // Each value in msgpack.
  payload_parts parts;
};
TROUPE_DESCRIBE(generic_header, small, parts)

std::unexpected<serialize_error> failure_of(std::string_view name, const serialize_error& error) {
  return failure(error.code(), "." + std::string(name) + ": " + error.message());
}

const type_entry& entry_of(const attribute& of, const context& ctx) {
  const auto* known = ctx.types == nullptr ? nullptr : ctx.types->find(of.entry->type());
  return known != nullptr ? *known : *of.entry;
}

std::expected<std::vector<std::byte>, serialize_error> encode_small(const attribute& of, const void* value,
                                                                    const context& ctx) {
  encode_output output;
  msgpack_writer writer(ctx, output);
  if (!of.entry->write(writer, value))
    return std::unexpected(writer.error("", "msgpack"));
  const auto bytes = output.body().bytes();
  return std::vector<std::byte>(bytes.begin(), bytes.end());
}

std::expected<void, serialize_error> decode_small(const attribute& of, std::span<const std::byte> bytes, void* target,
                                                  const context& ctx) {
  msgpack_reader reader(ctx, bytes, {}, bytes.size());
  if (of.entry->read(reader, target) && reader.finish())
    return {};
  return std::unexpected(reader.error("", "msgpack"));
}

std::expected<own_form, serialize_error> to_form(const std::vector<attribute>& attributes, const void* object,
                                                 const context& ctx) {
  generic_header header;
  parts_encoder parts(ctx);
  for (const auto& each : attributes) {
    const auto* value = each.of(object);
    if (each.is_small(value)) {
      auto bytes = encode_small(each, value, ctx);
      if (!bytes)
        return failure_of(each.name, bytes.error());
      header.small.emplace(each.name, *std::move(bytes));
    } else if (auto added = parts.add(each.name, entry_of(each, ctx), value); !added) {
      return failure_of(each.name, added.error());
    }
  }
  header.parts = parts.list();
  return own_form{msgpack::encode_described(header), parts.take_frames()};
}

std::expected<parts_decoder, serialize_error> open_parts(const std::vector<attribute>& attributes,
                                                         generic_header& header, std::span<const frame> frames,
                                                         const context& ctx) {
  auto parts = parts_decoder::open(std::move(header.parts), frames, ctx);
  if (!parts || ctx.parts_are_checked)
    return parts;
  for (std::size_t i = 0; i < parts->size(); ++i)
    if (const auto found = std::ranges::find(attributes, parts->name(i), &attribute::name); found != attributes.end())
      if (auto done = parts->check(i, entry_of(*found, ctx)); !done)
        return failure_of(found->name, done.error());
  return parts;
}

std::expected<void, serialize_error> check_form(const std::vector<attribute>& attributes,
                                                std::span<const std::byte> bytes, std::span<const frame> frames,
                                                const context& ctx) {
  auto header = msgpack::decode_described<generic_header>(bytes, ctx.limits);
  if (!header)
    return std::unexpected(header.error());
  const auto parts = open_parts(attributes, *header, frames, ctx);
  return parts ? std::expected<void, serialize_error>() : std::unexpected(parts.error());
}

std::expected<void, serialize_error> from_form(const std::vector<attribute>& attributes, void* object,
                                               std::span<const std::byte> bytes, std::span<const frame> frames,
                                               const context& ctx) {
  auto header = msgpack::decode_described<generic_header>(bytes, ctx.limits);
  if (!header)
    return std::unexpected(header.error());
  auto parts = open_parts(attributes, *header, frames, ctx);
  if (!parts)
    return std::unexpected(parts.error());
  const auto find = [&](std::string_view name) { return std::ranges::find(attributes, name, &attribute::name); };
  auto of_small = ctx;
  of_small.limits = limits_of_parts(ctx.limits, header->small.size());
  for (const auto& [name, value] : header->small)
    if (const auto found = find(name); found != attributes.end()) // Other names belong to another version.
      if (auto done = decode_small(*found, value, found->into(object), of_small); !done)
        return failure_of(name, done.error());
  std::vector<bool> seen(attributes.size());
  for (std::size_t i = 0; i < parts->size(); ++i) {
    const auto found = find(parts->name(i));
    if (found == attributes.end())
      continue;
    const auto index = static_cast<std::size_t>(found - attributes.begin());
    if (seen[index] || header->small.contains(parts->name(i)))
      return failure_of(found->name, {serialize_errc::malformed, "an attribute twice"});
    seen[index] = true;
    if (auto done = parts->decode(i, entry_of(*found, ctx), found->into(object)); !done)
      return failure_of(found->name, done.error());
  }
  return {};
}

} // namespace

own_codec generic_codec(std::vector<attribute> attributes) {
  const auto shared = std::make_shared<const std::vector<attribute>>(std::move(attributes));
  own_codec made;
  made.to_frames = [shared](const void* object, const context& ctx) { return to_form(*shared, object, ctx); };
  made.from_frames = [shared](void* object, std::span<const std::byte> header, std::span<const frame> frames,
                              const context& ctx) { return from_form(*shared, object, header, frames, ctx); };
  made.check_parts = [shared](std::span<const std::byte> header, std::span<const frame> frames, const context& ctx) {
    return check_form(*shared, header, frames, ctx);
  };
  return made;
}

} // namespace troupe::detail
