// The family "msgpack": self-describing, readable from any language. Form: msgpack/format.md.
#pragma once

#include <troupe/base/export.hpp>
#include <troupe/serializers/extend/visitor_family.hpp>
#include <troupe/serializers/msgpack/msgpack_coder.hpp>

namespace troupe {

/// Described structs are maps by field name, variants maps of one entry, described enums their names. Needs no trust.
class TROUPE_EXPORT msgpack_family final : public visitor_family<msgpack_writer, msgpack_reader> {
public:
  [[nodiscard]] std::string_view name() const override { return "msgpack"; }

  [[nodiscard]] std::expected<void, serialize_error> encode(const type_entry& entry, const void* value,
                                                            const context& ctx, encode_output& output) const override;
};

} // namespace troupe
