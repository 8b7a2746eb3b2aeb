// Described structs as msgpack maps, without a registry: for the small messages of protocols. All functions may be
// called from any thread.
#pragma once

#include <cstddef>
#include <expected>
#include <span>
#include <vector>

#include <troupe/serializers/internal/visit/visit_read.hpp>
#include <troupe/serializers/internal/visit/visit_write.hpp>
#include <troupe/serializers/limits.hpp>
#include <troupe/serializers/msgpack/msgpack_coder.hpp>

namespace troupe::msgpack {

/// The value as a map by field name. A value without frames, shared pointers and own codecs can always be encoded.
/// Empty if the value cannot be encoded.
template <class T>
[[nodiscard]] std::vector<std::byte> encode_described(const T& value) {
  const context ctx;
  encode_output output;
  msgpack_writer writer(ctx, output);
  if (!detail::visit_write(writer, value) || !output.frames().empty())
    return {};
  const auto bytes = output.body().bytes();
  return {bytes.begin(), bytes.end()};
}

/// Decodes a T. Skips fields of other names. Missing fields keep their default. Fails with `malformed`, also for
/// trailing bytes, with `limit_exceeded`, or as the codecs of T's fields do.
template <class T>
[[nodiscard]] std::expected<T, serialize_error> decode_described(std::span<const std::byte> bytes,
                                                                 const limits& bounds = {}) {
  context ctx;
  ctx.limits = bounds;
  msgpack_reader reader(ctx, bytes, {}, bytes.size());
  auto value = T();
  if (detail::visit_read(reader, value) && reader.finish())
    return value;
  return std::unexpected(reader.error("message", "msgpack"));
}

} // namespace troupe::msgpack
