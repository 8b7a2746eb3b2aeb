#include <troupe/serializers/serialize_calls.hpp>

#include <cstring>
#include <optional>
#include <span>
#include <utility>
#include <vector>

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

/// A T that each thread reuses. If a codec itself serializes a value, the nested call gets a T of its own.
template <class T>
class used_again {
public:
  used_again() : borrows_(!std::exchange(of_thread().is_lent, true)) {
    if (!borrows_)
      own_.emplace();
  }
  used_again(const used_again&) = delete;
  used_again& operator=(const used_again&) = delete;
  ~used_again() {
    if (!borrows_)
      return;
    of_thread().value.clear();
    of_thread().is_lent = false;
  }

  [[nodiscard]] T& operator*() noexcept { return borrows_ ? of_thread().value : *own_; }

private:
  struct lent {
    T value;
    bool is_lent = false;
  };
  static lent& of_thread() {
    thread_local lent kept;
    return kept;
  }

  const bool borrows_;
  std::optional<T> own_;
};

using resolved_families = used_again<std::vector<const family*>>;

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

/// Requires: the family is among the accepted ones.
std::expected<void, serialize_error> decode_accepted(const type_entry& entry, void* target, const family& by,
                                                     const header_fields& header, const payload& from,
                                                     const deserialize_options& options, const type_registry& types,
                                                     std::span<const family* const> accepted) {
  auto ctx = options.context;
  ctx.types = &types;
  ctx.families = accepted;
  return decode_value(entry, target, by, header, from.frames, ctx);
}

/// The accepted family whose standard header for that type equals `header`; null if there is none.
const family* family_of_standard_header(const type_entry& entry, std::span<const std::byte> header,
                                        std::span<const family* const> accepted) {
  for (const auto* each : accepted) {
    const auto standard = standard_header(*each, entry).bytes();
    if (header.size() == standard.size() && std::memcmp(header.data(), standard.data(), standard.size()) == 0)
      return each;
  }
  return nullptr;
}

std::expected<void, serialize_error> decode_checked(const type_entry& entry, void* target, const header_fields& header,
                                                    const payload& from, const deserialize_options& options,
                                                    const type_registry& types, const family_set& families) {
  resolved_families accepted;
  if (auto known = families.resolve(options.deserializers, *accepted); !known)
    return known;
  const auto by = check_accepted(header.family, *accepted);
  if (!by)
    return std::unexpected(by.error());
  return decode_accepted(entry, target, **by, header, from, options, types, *accepted);
}

/// Adds the alias to the error, because a caller of deserialize_any() does not know the type.
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
  resolved_families serializers;
  if (auto known = families.resolve(options.serializers, *serializers); !known)
    return std::unexpected(std::move(known).error());
  used_again<encode_output> borrowed;
  auto& used = *borrowed;
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
  return made;
}

std::expected<void, serialize_error> deserialize_entry(const type_entry& entry, void* target, const payload& from,
                                                       const deserialize_options& options, const type_registry& types,
                                                       const family_set& families) {
  // Most payloads come from a program with the same type. Their header is known without reading it.
  if (from.header.size_bytes() <= options.context.limits.header_bytes) {
    resolved_families accepted;
    if (families.resolve(options.deserializers, *accepted))
      if (const auto* by = family_of_standard_header(entry, from.header.bytes(), *accepted))
        return decode_accepted(entry, target, *by,
                               {.family = by->name(), .type = entry.alias(), .schema = by->schema(entry), .extra = {}},
                               from, options, types, *accepted);
  }
  const auto header = open_header(from, options);
  if (!header)
    return std::unexpected(header.error());
  if (header->type != entry.alias())
    return std::unexpected(serialize_error(serialize_errc::type_mismatch, "payload of type '"
                                                                              + std::string(header->type.substr(0, 100))
                                                                              + "', expected '" + entry.alias() + "'"));
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
    return detail::failure(serialize_errc::unknown_type,
                           "no type with the alias '" + std::string(header->type.substr(0, 100))
                               + "' is registered, and the payload does not describe its structure: "
                               + done.error().message());
  }
  value.complete(*entry, std::string(header->type));
  return value;
}

} // namespace troupe
