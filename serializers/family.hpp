// Serialization families: the base class, and the set of families that a node has.
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

/// One serialization format as a whole. Derive from it to add a format; README.md shows how.
///
/// Threads: encode and decode may run in any number of threads at once.
class TROUPE_EXPORT family {
public:
  family() = default;
  family(const family&) = delete;
  family& operator=(const family&) = delete;
  virtual ~family();

  [[nodiscard]] virtual std::string_view name() const = 0;

  /// Whether hostile bytes could do harm. If so, the family serves only links that trust their peer.
  [[nodiscard]] virtual bool needs_trust() const { return false; }

  /// Empty if the family can carry the type, else the reason, which includes the field's path.
  [[nodiscard]] virtual std::string unsupported(const type_entry& entry) const = 0;
  [[nodiscard]] bool supports(const type_entry& entry) const { return unsupported(entry).empty(); }

  /// The layout of the type that a remote decoder needs; it goes into the header. Constant while the entry lives.
  [[nodiscard]] virtual std::span<const std::byte> schema(const type_entry&) const { return {}; }

  /// Encodes the value into `output`, which is empty. May fail with `not_supported` for one value of a supported type;
  /// then the next family is asked.
  [[nodiscard]] virtual std::expected<void, serialize_error>
  encode(const type_entry& entry, const void* value, const context& ctx, encode_output& output) const = 0;

  /// Decodes into a default-constructed value. `frames[0]` is the body, if there are frames at all. After a failure the
  /// target may hold any valid value. Must withstand any bytes, unless needs_trust().
  [[nodiscard]] virtual std::expected<void, serialize_error> decode(const type_entry& entry, void* target,
                                                                    const header_fields& header,
                                                                    std::span<const frame> frames,
                                                                    const context& ctx) const = 0;
};

/// The families of a node, by name. Starts with "typed", "msgpack" and "json". Fill it before the first node or call
/// uses it; from then on only const members may be called, from any thread.
class TROUPE_EXPORT family_set {
public:
  family_set();
  family_set(family_set&&) noexcept = default;
  family_set& operator=(family_set&&) noexcept = default;

  /// Adds a family. Throws `registration_error` if the name is taken or reserved.
  family_set& add(std::unique_ptr<family> added);
  /// Adds the families of a shared library that contains TROUPE_FAMILIES (extend/family_library.hpp): all of them, or
  /// none if a name is taken. The library stays loaded until the process ends, since objects of its families may
  /// outlive this set. Its code runs with all rights of this process: load only libraries that you trust. Fails with
  /// `not_loaded`, also if the library was built against another version of Troupe; with `clash`; or with
  /// `codec_failed` if the library throws. A failed call adds nothing.
  [[nodiscard]] std::expected<void, serialize_error> load(const std::filesystem::path& library);
  [[nodiscard]] const family* find(std::string_view name) const;
  /// The families of these names, in this order. Fails with `unknown_family` and lists the known ones.
  [[nodiscard]] std::expected<std::vector<const family*>, serialize_error>
  resolve(std::span<const std::string> names) const;
  /// Replaces the content of `into` with the families of these names, so that its memory can be reused.
  [[nodiscard]] std::expected<void, serialize_error> resolve(std::span<const std::string> names,
                                                             std::vector<const family*>& into) const;
  [[nodiscard]] std::vector<std::string> names() const;

private:
  std::vector<std::unique_ptr<family>> families_;
};

/// Empties the output, then encodes with the first family that supports the type. After `not_supported` the next family
/// is tried; any other failure stops. If no family succeeds, the error names the type and each family's reason.
[[nodiscard]] TROUPE_EXPORT std::expected<const family*, serialize_error>
encode_value(const type_entry& entry, const void* value, std::span<const family* const> serializers, const context& ctx,
             encode_output& output);

namespace detail {
/// Encodes a part of a payload. Does not look for repeated frames; that is done for the whole payload.
[[nodiscard]] TROUPE_EXPORT std::expected<const family*, serialize_error>
encode_part(const type_entry& entry, const void* value, std::span<const family* const> serializers, const context& ctx,
            encode_output& output);
} // namespace detail

/// Decodes into a default-constructed value. Checks the limits and turns exceptions into errors. Requires: the caller
/// has checked that it accepts the family, see check_accepted().
[[nodiscard]] TROUPE_EXPORT std::expected<void, serialize_error>
decode_value(const type_entry& entry, void* target, const family& by, const header_fields& header,
             std::span<const frame> frames, const context& ctx);

/// The family of that name if it is among the accepted ones. Else fails with `refused_family`: "data serialized with
/// cereal but this link only accepts [typed, msgpack]".
[[nodiscard]] TROUPE_EXPORT std::expected<const family*, serialize_error>
check_accepted(std::string_view name, std::span<const family* const> accepted);

/// The header of (family, type) if the codec adds nothing: one constant per pair. It contains the sender's layout of
/// the type, so a link may send it once and refer to it by number from then on.
[[nodiscard]] TROUPE_EXPORT const frame& standard_header(const family& of, const type_entry& entry);

/// The header of an output: the standard one unless the codec or the frames add fields.
[[nodiscard]] TROUPE_EXPORT frame header_of(const family& of, const type_entry& entry, const encode_output& output);

} // namespace troupe
