// The family "json": for people and for debugging, readable from any language. Form: json/format.md.
#pragma once

#include <troupe/base/export.hpp>
#include <troupe/serializers/extend/visitor_family.hpp>
#include <troupe/serializers/json/json_reader.hpp>
#include <troupe/serializers/json/json_writer.hpp>

namespace troupe {

/// One JSON text in one frame. Described structs are objects by field name, described enums their names, bytes and
/// frames base64. Needs no trust.
class TROUPE_EXPORT json_family final : public visitor_family<json_writer, json_reader> {
public:
  [[nodiscard]] std::string_view name() const override { return "json"; }
};

} // namespace troupe
