#include <troupe/serializers/serialize_calls.hpp>

#include <troupe/serializers/internal/payload/error_payload.hpp>
#include <troupe/serializers/internal/words/failing.hpp>
#include <troupe/serializers/record.hpp>

namespace troupe {

namespace {

payload error_payload(const type_entry& entry, const serialize_error& error) {
  constexpr std::size_t longest = 4096;
  const auto text = std::string_view(error.message()).substr(0, longest);
  return {make_header({.family = detail::error_family, .type = entry.alias(), .schema = {}, .extra = {}}),
          {frame::copy_of(std::as_bytes(std::span(text)))}};
}

/// A program without a node has nobody else who would say so.
std::expected<void, serialize_error> check(const type_registry& types, const family_set& families) {
  if (!families.errors().empty()) {
    const auto& first = families.errors().front();
    return detail::failure(first.code(), "the families have errors: " + first.message());
  }
  return types.check();
}

std::expected<header_fields, serialize_error> open_header(const payload& from, const deserialize_options& options) {
  auto header = parse_header(from.header.bytes(), options.context.limits);
  if (!header || header->family != detail::error_family)
    return header;
  std::string text = "the sender could not encode '" + std::string(header->type.substr(0, 100)) + "': ";
  if (!from.frames.empty()) {
    const auto bytes = from.frames[0].bytes().first(std::min<std::size_t>(from.frames[0].size_bytes(), 4096));
    text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  return detail::failure(serialize_errc::sent_as_text, std::move(text));
}

std::expected<void, serialize_error> decode_checked(const type_entry& entry, void* target, const header_fields& header,
                                                    const payload& from, const deserialize_options& options,
                                                    const type_registry& types, const family_set& families) {
  if (const auto sound = check(types, families); !sound)
    return sound;
  const auto accepted = families.resolve(options.deserializers);
  if (!accepted)
    return std::unexpected(accepted.error());
  const auto by = check_accepted(header.family, *accepted);
  if (!by)
    return std::unexpected(by.error());
  auto ctx = options.context;
  ctx.types = &types;
  ctx.families = *accepted;
  return decode_value(entry, target, **by, header, from.frames, ctx);
}

/// Whoever asks for any type does not know of which one an error speaks.
serialize_error naming(std::string_view alias, serialize_error error) {
  alias = alias.substr(0, 100);
  if (error.message().find(alias) != std::string::npos)
    return error;
  return {error.code(), "'" + std::string(alias) + "': " + error.message()};
}

} // namespace

std::expected<payload, serialize_error> serialize_entry(const type_entry& entry, const void* value,
                                                        const serialize_options& options, const type_registry& types,
                                                        const family_set& families) {
  if (const auto sound = check(types, families); !sound)
    return std::unexpected(sound.error());
  const auto serializers = families.resolve(options.serializers);
  if (!serializers)
    return std::unexpected(serializers.error());
  thread_local encode_output output;
  encode_output used;
  std::swap(used, output); // A codec may serialize in turn; it then finds the thread's output empty, not in use.
  auto ctx = options.context;
  ctx.types = &types;
  ctx.families = *serializers;
  ctx.iterate = options.iterate;
  const auto by = encode_value(entry, value, *serializers, ctx, used);
  if (!by) {
    if (options.on_error == on_error::message)
      return error_payload(entry, by.error());
    return std::unexpected(by.error());
  }
  payload made{header_of(**by, entry, used), {}};
  made.frames.reserve(1 + used.frames().size());
  made.frames.push_back(frame::copy_of(used.body().bytes()));
  made.frames.insert(made.frames.end(), used.frames().begin(), used.frames().end());
  used.clear();
  std::swap(used, output);
  return made;
}

std::expected<void, serialize_error> deserialize_entry(const type_entry& entry, void* target, const payload& from,
                                                       const deserialize_options& options, const type_registry& types,
                                                       const family_set& families) {
  const auto header = open_header(from, options);
  if (!header)
    return std::unexpected(header.error());
  if (header->type != entry.alias())
    return std::unexpected(
        serialize_error(serialize_errc::type_mismatch, "payload of type '" + std::string(header->type.substr(0, 100))
                                                           + "', asked for '" + entry.alias() + "'"));
  return decode_checked(entry, target, *header, from, options, types, families);
}

std::expected<any_value, serialize_error> deserialize_any(const payload& from, const deserialize_options& options,
                                                          const type_registry& types, const family_set& families) {
  const auto header = open_header(from, options);
  if (!header)
    return std::unexpected(header.error());
  const auto* entry = types.find(header->type);
  if (entry == nullptr)
    entry = types.find<record>();
  any_value value(*entry);
  if (auto done = decode_checked(*entry, value.data(), *header, from, options, types, families); !done) {
    const auto code = done.error().code();
    const auto known = header->type == entry->alias();
    if (known || (code != serialize_errc::layout_mismatch && code != serialize_errc::not_supported))
      return std::unexpected(naming(header->type, std::move(done.error())));
    return detail::failure(serialize_errc::unknown_type, "no type with the alias '"
                                                             + std::string(header->type.substr(0, 100))
                                                             + "' is registered, and the payload does not say what it "
                                                               "consists of: "
                                                             + done.error().message());
  }
  value.complete(*entry, std::string(header->type));
  return value;
}

} // namespace troupe
