// Values as JSON texts and back, without a registry: for files that people edit, and for looking at values. All
// functions may be called from any thread.
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include <troupe/serializers/internal/visit/visit_read.hpp>
#include <troupe/serializers/internal/visit/visit_write.hpp>
#include <troupe/serializers/json/json_reader.hpp>
#include <troupe/serializers/json/json_writer.hpp>

namespace troupe::json {

/// The value on one line, in the form of json/format.md. Fails if the value cannot be encoded.
template <class T>
[[nodiscard]] std::expected<std::string, serialize_error> encode_described(const T& value) {
  const context ctx;
  encode_output output;
  json_writer writer(ctx, output);
  if (!detail::visit_write(writer, value))
    return std::unexpected(writer.error("value", "json"));
  writer.finish();
  const auto bytes = output.body().bytes();
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

/// Decodes a T. Skips fields of other names. Missing fields keep their default. White space between, before and behind
/// values is skipped. Fails with `malformed`, with `limit_exceeded`, or as the codecs of T's fields do.
template <class T>
[[nodiscard]] std::expected<T, serialize_error> decode_described(std::string_view text, const limits& bounds = {}) {
  context ctx;
  ctx.limits = bounds;
  json_reader reader(ctx, std::as_bytes(std::span(text)), text.size());
  auto value = T();
  if (detail::visit_read(reader, value) && reader.finish())
    return value;
  return std::unexpected(reader.error("value", "json"));
}

} // namespace troupe::json
