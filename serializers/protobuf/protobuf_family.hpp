// The family "protobuf": generated messages of the protobuf library. Form: protobuf/format.md.
//
// This header includes nothing of protobuf, so that it stays light. protobuf_type.hpp, which registers types, includes
// protobuf.
#pragma once

#include <memory>
#include <vector>

#include <troupe/base/export.hpp>
#include <troupe/serializers/family.hpp>

namespace google::protobuf {

class Message;

} // namespace google::protobuf

namespace troupe {

template <class Family>
struct carriage_rule;

namespace detail {

class protobuf_costs;

} // namespace detail

/// The family's functions for one message type. add_protobuf() attaches them to the type's entry.
struct protobuf_functions {
  const google::protobuf::Message& (*message_of)(const void* value) = nullptr;
  google::protobuf::Message& (*message_at)(void* target) = nullptr;
  std::shared_ptr<const detail::protobuf_costs> costs;
};

/// A message's own bytes, as SerializeToArray writes them, and nothing else. Carries the types that were registered
/// with add_protobuf().
///
/// The family needs no trust. Protobuf's parser constructs the values. It was written for untrusted bytes, is fuzzed as
/// such, and runs no code of the message types' users. Its allocations are checked against the limits before it starts,
/// and its depth while it runs. A new family_set does not contain this family, because not every program has protobuf.
/// To use it, call `families.add(std::make_unique<protobuf_family>())`.
///
/// Encoding fails with `not_supported`, `codec_failed` (required fields are missing) or `limit_exceeded`; decoding with
/// `not_supported`, `malformed` or `limit_exceeded`.
class TROUPE_EXPORT protobuf_family final : public family {
public:
  [[nodiscard]] std::string_view name() const override { return "protobuf"; }
  [[nodiscard]] std::string unsupported(const type_entry& entry) const override;
  [[nodiscard]] std::expected<void, serialize_error> encode(const type_entry& entry, const void* value,
                                                            const context& ctx, encode_output& output) const override;
  [[nodiscard]] std::expected<void, serialize_error> decode(const type_entry& entry, void* target,
                                                            const header_fields& header, std::span<const frame> frames,
                                                            const context& ctx) const override;
};

/// For `serializable<T, protobuf_family>`. Defined in protobuf_type.hpp, because it must know protobuf.
template <>
struct carriage_rule<protobuf_family>;

namespace detail {

/// The message's bytes, for a message inside a value of another family. Fails with `codec_failed` if required fields
/// are missing, or with `limit_exceeded`.
[[nodiscard]] TROUPE_EXPORT std::expected<std::vector<std::byte>, serialize_error>
protobuf_bytes(const google::protobuf::Message& value, const protobuf_costs& costs, const context& ctx);

/// Reads into an empty message, within the limits of a separate payload. Fails with `malformed` or `limit_exceeded`.
[[nodiscard]] TROUPE_EXPORT std::expected<void, serialize_error> read_protobuf(google::protobuf::Message& target,
                                                                               std::span<const std::byte> bytes,
                                                                               const protobuf_costs& costs,
                                                                               const context& ctx);

} // namespace detail
} // namespace troupe
