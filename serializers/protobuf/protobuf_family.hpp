// The family "protobuf": generated messages of the protobuf library. Form: protobuf/format.md.
//
// Light on purpose: nothing of protobuf is included here. protobuf_type.hpp, which registers types, is where it is.
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

/// What the family knows of one message type; add_protobuf() attaches it to the type's entry.
struct protobuf_functions {
  const google::protobuf::Message& (*message_of)(const void* value) = nullptr;
  google::protobuf::Message& (*message_at)(void* target) = nullptr;
  std::shared_ptr<const detail::protobuf_costs> costs;
};

/// A message's own bytes, as SerializeToArray writes them, and nothing else. Carries the types that were registered
/// with add_protobuf().
///
/// It needs no trust: what makes the values is protobuf's parser, which was written for bytes from strangers and is
/// fuzzed as such, and no code of the message types' users runs in it. What it would allocate is held to the limits
/// before it starts, how deep it nests while it runs. In no family_set from the start, since not every program has
/// protobuf: `families.add(std::make_unique<protobuf_family>())`.
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

/// For `serializable<T, protobuf_family>`. Defined in protobuf_type.hpp, since it must know protobuf.
template <>
struct carriage_rule<protobuf_family>;

namespace detail {

/// The message's bytes, for where it stands in a value of another family.
[[nodiscard]] TROUPE_EXPORT std::expected<std::vector<std::byte>, serialize_error>
protobuf_bytes(const google::protobuf::Message& value, const protobuf_costs& costs, const context& ctx);

/// Reads them into an empty message. The limits are those for a payload of its own.
[[nodiscard]] TROUPE_EXPORT std::expected<void, serialize_error> read_protobuf(google::protobuf::Message& target,
                                                                               std::span<const std::byte> bytes,
                                                                               const protobuf_costs& costs,
                                                                               const context& ctx);

} // namespace detail
} // namespace troupe
