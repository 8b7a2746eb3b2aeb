// Serialization families: their base class, and the set of families that a node has.
#pragma once

#include <expected>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <troupe/base/export.hpp>
#include <troupe/serializers/context.hpp>
#include <troupe/serializers/extend/encode_output.hpp>
#include <troupe/serializers/payload.hpp>
#include <troupe/serializers/serialize_error.hpp>

namespace troupe {

class type_entry;

/// One serialization format as a whole. To add a format, derive from this class; README.md shows how.
///
/// Threads: any number of threads may call the const members at once.
/// Lifetime: must outlive the payloads and calls that use the family; a family_set owns its families.
class TROUPE_EXPORT family {
public:
  family() = default;
  family(const family&) = delete;
  family& operator=(const family&) = delete;
  virtual ~family();

  /// The name that travels in headers and stands in lists of families. Constant.
  [[nodiscard]] virtual std::string_view name() const = 0;

  /// Whether hostile bytes could do harm. Such a family serves only links that trust their peer.
  [[nodiscard]] virtual bool needs_trust() const { return false; }

  /// Empty if the family can carry the type. Otherwise the reason, which contains the field's path.
  [[nodiscard]] virtual std::string unsupported(const type_entry& entry) const = 0;
  [[nodiscard]] bool supports(const type_entry& entry) const { return unsupported(entry).empty(); }

  /// The layout of the type, which a remote decoder needs; it goes into the header. Constant while the entry lives.
  [[nodiscard]] virtual std::span<const std::byte> schema(const type_entry&) const { return {}; }

  /// Encodes the value into `output`, which is empty. May fail with `not_supported` for one value of a supported type;
  /// then the next family is tried. Any other failure ends the encoding. An exception becomes `codec_failed`.
  [[nodiscard]] virtual std::expected<void, serialize_error>
  encode(const type_entry& entry, const void* value, const context& ctx, encode_output& output) const = 0;

  /// Decodes into a default-constructed value. `frames[0]` is the body if there are frames at all. After a failure, the
  /// target may hold any valid value. Must withstand any bytes, unless needs_trust(). An exception becomes
  /// `codec_failed`.
  [[nodiscard]] virtual std::expected<void, serialize_error> decode(const type_entry& entry, void* target,
                                                                    const header_fields& header,
                                                                    std::span<const frame> frames,
                                                                    const context& ctx) const = 0;
};

/// The families of a node, by name. A new set contains "typed", "msgpack" and "json".
///
/// Threads: fill the set before the first node or call uses it. From then on only const members may be called, from any
/// thread.
/// Lifetime: must outlive the nodes and calls that use it, and the actor system of these nodes.
class TROUPE_EXPORT family_set {
public:
  family_set();
  family_set(family_set&&) noexcept = default;
  family_set& operator=(family_set&&) noexcept = default;

  /// Adds a family. Throws `registration_error` if the name is taken or reserved.
  family_set& add(std::unique_ptr<family> added);
  /// Adds the families of a shared library that contains TROUPE_FAMILIES (extend/family_library.hpp). Adds all of them,
  /// or none if the call fails. The library stays loaded until the process ends, because objects of its families may
  /// outlive this set. Its code runs with all rights of this process: load only libraries that you trust. Fails with
  /// `not_loaded` if the library is missing, adds no family or was built against another version of Troupe, with
  /// `clash` if a name is taken or reserved, or with `codec_failed` if the library throws.
  [[nodiscard]] std::expected<void, serialize_error> load(const std::filesystem::path& library);
  /// Null if there is no family of that name.
  [[nodiscard]] const family* find(std::string_view name) const;
  /// The families of these names, in this order. Fails with `unknown_family`; the text lists the known families.
  [[nodiscard]] std::expected<std::vector<const family*>, serialize_error>
  resolve(std::span<const std::string> names) const;
  /// Like resolve() above, but replaces the content of `into`, so that its memory can be reused.
  [[nodiscard]] std::expected<void, serialize_error> resolve(std::span<const std::string> names,
                                                             std::vector<const family*>& into) const;
  [[nodiscard]] std::vector<std::string> names() const;

private:
  std::vector<std::unique_ptr<family>> families_;
};

/// Empties the output, then encodes with the first family that supports the type. After `not_supported`, the next
/// family is tried; any other failure ends the encoding. If no family can carry the value, fails with `not_supported`,
/// and the text names the type and each family's reason. Also fails with `limit_exceeded` (the limits of `ctx`),
/// `codec_failed`, and the failures of the types' codecs.
[[nodiscard]] TROUPE_EXPORT std::expected<const family*, serialize_error>
encode_value(const type_entry& entry, const void* value, std::span<const family* const> serializers, const context& ctx,
             encode_output& output);

namespace detail {
/// Encodes a part of a payload. Does not look for repeated frames; that is done for the whole payload.
[[nodiscard]] TROUPE_EXPORT std::expected<const family*, serialize_error>
encode_part(const type_entry& entry, const void* value, std::span<const family* const> serializers, const context& ctx,
            encode_output& output);
} // namespace detail

/// Decodes into a default-constructed value. Checks the limits of `ctx` and turns exceptions into `codec_failed`.
/// Requires: the caller has checked that it accepts the family (check_accepted()). Fails with `malformed`,
/// `limit_exceeded`, `layout_mismatch`, `not_supported`, `refused_family` (of a nested payload), `out_of_band_handle`
/// or `codec_failed`.
[[nodiscard]] TROUPE_EXPORT std::expected<void, serialize_error>
decode_value(const type_entry& entry, void* target, const family& by, const header_fields& header,
             std::span<const frame> frames, const context& ctx);

/// The family of that name, if it is one of `accepted`. Otherwise fails with `refused_family`: "data serialized with
/// cereal but this link only accepts [typed, msgpack]".
[[nodiscard]] TROUPE_EXPORT std::expected<const family*, serialize_error>
check_accepted(std::string_view name, std::span<const family* const> accepted);

/// The header of a family and a type if the codec adds nothing to it. It is constant while the entry lives and contains
/// the sender's layout of the type. Therefore a link may send it once and refer to it by a number from then on.
[[nodiscard]] TROUPE_EXPORT const frame& standard_header(const family& of, const type_entry& entry);

/// The header of an output: the standard header, unless the codec or the frames add fields.
[[nodiscard]] TROUPE_EXPORT frame header_of(const family& of, const type_entry& entry, const encode_output& output);

} // namespace troupe
