#include <troupe/serializers/protobuf/protobuf_family.hpp>

#include <algorithm>
#include <climits>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/message.h>

#include <troupe/serializers/internal/words/failing.hpp>
#include <troupe/serializers/protobuf/protobuf_costs.hpp>
#include <troupe/serializers/type_registry.hpp>

namespace troupe {

namespace {

namespace pb = google::protobuf;

struct write_state final : coding {
  using coding::coding;
  using coding::fail_as;
};

struct read_state final : decoding {
  using decoding::decoding;
};

using detail::failure;

// For a message inside a value of another family, which adds its name and the place.
std::unexpected<serialize_error> failure_inside(const coding& state) {
  return failure(state.error("", "").code(), state.reason());
}

// The text is cut, because a message may list thousands of fields.
std::string missing_fields(const pb::Message& in) {
  constexpr std::size_t longest = 500;
  return "required fields are missing: " + in.InitializationErrorString().substr(0, longest);
}

/// Finds the message's encoded size, and fails if the message cannot be encoded.
bool find_size(write_state& state, const pb::Message& of, std::size_t& size) {
  if (!of.IsInitialized())
    return state.fail(serialize_errc::codec_failed, missing_fields(of));
  size = of.ByteSizeLong();
  return size <= INT_MAX
         || state.fail(serialize_errc::limit_exceeded,
                       "a message of " + grouped(size) + " bytes; those of protobuf have less than 2 GiB");
}

/// Writes the message. Requires: room for the size that find_size() found just before, for the same message.
void write_sized(const pb::Message& value, std::byte* to) {
  value.SerializeWithCachedSizesToArray(reinterpret_cast<std::uint8_t*>(to));
}

/// Whether the bytes certainly keep all limits and can be read without a walk. A message has at most as many elements,
/// and texts at most as long, as it has bytes, and protobuf limits the depth itself.
bool is_read_at_once(const detail::protobuf_costs& costs, const limits& limits, std::size_t size_bytes) {
  const auto depth_at_once = static_cast<std::size_t>(pb::io::CodedInputStream::GetDefaultRecursionLimit());
  return costs.memory_bytes_most(size_bytes) <= decoding_bytes(limits, size_bytes)
         && size_bytes <= std::min(limits.elements, limits.text_bytes) && depth_at_once <= limits.depth;
}

/// Fails if the message nests deeper than a receiver with the same limits accepts. Adds the memory that such a receiver
/// charges.
bool check_written(write_state& state, const detail::protobuf_costs& costs, std::span<const std::byte> written) {
  const auto is_charged =
      state.context().taken_bytes != nullptr && !is_read_at_once(costs, state.context().limits, written.size());
  if (costs.depth_most() <= state.context().limits.depth && !is_charged)
    return true;
  auto ctx = state.context();
  ctx.limits.text_bytes = ctx.limits.elements = ctx.limits.memory_bytes = ctx.limits.memory_free_bytes = SIZE_MAX;
  if (!is_charged)
    ctx.taken_bytes = nullptr;
  read_state walked(ctx, written.size());
  return costs.charge(walked, written) || state.fail_as(walked);
}

/// Reads bytes that have been charged. Not for other bytes: if a text claims to be long, the stream's reader allocates
/// up to 50 MB before it finds that the bytes end.
bool read_charged(pb::Message& target, std::span<const std::byte> bytes, std::size_t depth) {
  pb::io::CodedInputStream in(reinterpret_cast<const std::uint8_t*>(bytes.data()), static_cast<int>(bytes.size()));
  in.SetRecursionLimit(static_cast<int>(std::min<std::size_t>(depth, INT_MAX)));
  return target.ParsePartialFromCodedStream(&in) && in.ConsumedEntireMessage();
}

bool read(read_state& state, pb::Message& target, const detail::protobuf_costs& costs,
          std::span<const std::byte> bytes) {
  const auto& limits = state.context().limits;
  if (bytes.size() > INT_MAX)
    return state.fail(serialize_errc::limit_exceeded,
                      grouped(bytes.size()) + " bytes; messages of protobuf have less than 2 GiB");
  // A refusal here may only mean that the bytes nest deeper than protobuf's own limit.
  if (!is_read_at_once(costs, limits, bytes.size())
      || !target.ParsePartialFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    if (!costs.charge(state, bytes))
      return false;
    if (!read_charged(target, bytes, limits.depth))
      return state.fail(serialize_errc::malformed,
                        "protobuf refuses the bytes: a string in them is not UTF-8; send it in a field of type bytes");
  }
  return target.IsInitialized() || state.fail(serialize_errc::malformed, missing_fields(target));
}

} // namespace

std::string protobuf_family::unsupported(const type_entry& entry) const {
  return entry.attachment<protobuf_functions>() != nullptr ? ""
                                                           : "it was not registered with add_protobuf<T>(types, alias)";
}

std::expected<void, serialize_error> protobuf_family::encode(const type_entry& entry, const void* value,
                                                             const context& ctx, encode_output& output) const {
  const auto* functions = entry.attachment<protobuf_functions>();
  if (functions == nullptr)
    return failure(serialize_errc::not_supported, name(), entry.alias(), unsupported(entry));
  const auto& message = functions->message_of(value);
  auto& body = output.body();
  write_state state(ctx);
  std::size_t size = 0;
  if (find_size(state, message, size)) {
    body.reserve(size);
    write_sized(message, body.end());
    body.advance_to(body.end() + size);
    check_written(state, *functions->costs, body.bytes());
  }
  if (state.failed())
    return std::unexpected(state.error(entry.alias(), name()));
  return {};
}

std::expected<void, serialize_error> protobuf_family::decode(const type_entry& entry, void* target,
                                                             const header_fields&, std::span<const frame> frames,
                                                             const context& ctx) const {
  const auto* functions = entry.attachment<protobuf_functions>();
  if (functions == nullptr)
    return failure(serialize_errc::not_supported, name(), entry.alias(), unsupported(entry));
  if (frames.size() != 1)
    return failure(serialize_errc::malformed, name(), entry.alias(),
                   grouped(frames.size()) + " frames, a protobuf message has exactly one: the body");
  read_state state(ctx, frames[0].size_bytes());
  if (!read(state, functions->message_at(target), *functions->costs, frames[0].bytes()))
    return std::unexpected(state.error(entry.alias(), name()));
  return {};
}

namespace detail {

std::expected<std::vector<std::byte>, serialize_error> protobuf_bytes(const pb::Message& value,
                                                                      const protobuf_costs& costs, const context& ctx) {
  write_state state(ctx);
  std::vector<std::byte> bytes;
  std::size_t size = 0;
  if (find_size(state, value, size)) {
    bytes.resize(size);
    write_sized(value, bytes.data());
    check_written(state, costs, bytes);
  }
  if (state.failed())
    return failure_inside(state);
  return bytes;
}

std::expected<void, serialize_error> read_protobuf(pb::Message& target, std::span<const std::byte> bytes,
                                                   const protobuf_costs& costs, const context& ctx) {
  read_state state(ctx, bytes.size());
  if (!read(state, target, costs, bytes))
    return failure_inside(state);
  return {};
}

} // namespace detail
} // namespace troupe
