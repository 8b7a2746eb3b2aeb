// Payloads that consist of payloads: each part is encoded by the first listed family that carries it.
#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <troupe/base/export.hpp>
#include <troupe/serializers/describe.hpp>
#include <troupe/serializers/extend/encode_output.hpp>
#include <troupe/serializers/family.hpp>

namespace troupe::detail {

/// Describes one part: its name, its header, and the number of frames that belong to it.
struct payload_part {
  std::uint64_t name = 0;   // Index into `names`.
  std::uint64_t header = 0; // Index into `headers`.
  std::uint64_t frames = 0;
};

struct payload_parts {
  std::vector<std::string> names;
  std::vector<std::vector<std::byte>> headers;
  std::vector<payload_part> parts;
};

TROUPE_DESCRIBE(payload_part, name, header, frames)
TROUPE_DESCRIBE(payload_parts, names, headers, parts)

class TROUPE_EXPORT parts_encoder {
public:
  explicit parts_encoder(const context& ctx);

  [[nodiscard]] std::expected<void, serialize_error> add(std::string_view name, const type_entry& entry,
                                                         const void* value);
  [[nodiscard]] const payload_parts& list() const { return list_; }
  [[nodiscard]] std::vector<frame> take_frames() { return std::move(frames_); }

private:
  context context_; // For the parts, which have one level of nesting less.
  payload_parts list_;
  std::map<std::string, std::size_t, std::less<>> names_;
  std::map<std::string, std::size_t, std::less<>> headers_; // By their bytes.
  std::vector<frame> frames_;
  encode_output output_;
};

class TROUPE_EXPORT parts_decoder {
public:
  /// Opens a list of parts. Checks every part's family against the accepted ones before anything of any part is
  /// decoded. check() does the same for payloads nested in a part.
  [[nodiscard]] static std::expected<parts_decoder, serialize_error>
  open(payload_parts list, std::span<const frame> frames, const context& ctx);

  [[nodiscard]] std::size_t size() const { return list_.parts.size(); }
  [[nodiscard]] const std::string& name(std::size_t index) const { return list_.names[list_.parts[index].name]; }
  /// Checks the families of all payloads nested in the part, without decoding any.
  [[nodiscard]] std::expected<void, serialize_error> check(std::size_t index, const type_entry& entry) const;
  /// Decodes a part into a value of its type, or into memory for a value if the type has no default constructor.
  [[nodiscard]] std::expected<void, serialize_error> decode(std::size_t index, const type_entry& entry, void* target);

private:
  parts_decoder(payload_parts list, const context& ctx) : context_(ctx), list_(std::move(list)) {}

  /// False if the part is of another version, and its layout exceeds the budget for reading such layouts.
  [[nodiscard]] bool may_read_layout(std::size_t header, const type_entry& entry);

  context context_;
  payload_parts list_;
  std::vector<const family*> by_;              // Of each header.
  std::vector<header_fields> fields_;          // Of each header.
  std::vector<std::span<const frame>> frames_; // Of each part.
  std::vector<std::size_t> repeated_bytes_;    // Of each part; empty if nothing is repeated.
  std::size_t layout_bytes_left_ = 0;
};

/// Checks the families of all payloads that are nested, at any depth, in a payload of that family and type.
[[nodiscard]] TROUPE_EXPORT std::expected<void, serialize_error>
check_parts_within(const type_entry& entry, const family& by, const header_fields& header,
                   std::span<const frame> frames, const context& ctx);

/// The limits for each of `count` parts of one payload, so that all parts together keep the limits of the whole.
[[nodiscard]] TROUPE_EXPORT limits limits_of_parts(const limits& whole, std::size_t count);

} // namespace troupe::detail
