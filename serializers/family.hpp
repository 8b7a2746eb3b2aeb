// Serialization families: the concept, and the set of them that a node has.
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
#include <troupe/serializers/encode_output.hpp>
#include <troupe/serializers/payload.hpp>
#include <troupe/serializers/serialize_error.hpp>

namespace troupe {

class type_entry;

/// One serialization format as a whole. Derive from it to add a format: README.md shows how.
///
/// Threads: encode and decode may run in any number of threads at once.
class TROUPE_EXPORT family {
public:
  family() = default;
  family(const family&) = delete;
  family& operator=(const family&) = delete;
  virtual ~family();

  [[nodiscard]] virtual std::string_view name() const = 0;

  /// True when hostile bytes could do harm: such a family serves only links that trust their peer.
  [[nodiscard]] virtual bool needs_trust() const { return false; }

  /// Nothing when the family can carry the type, else the reason, with the field's path in it.
  [[nodiscard]] virtual std::string unsupported(const type_entry& entry) const = 0;
  [[nodiscard]] bool supports(const type_entry& entry) const { return unsupported(entry).empty(); }

  /// What a decoder elsewhere must know about the type; it goes into the header. Constant while the entry lives.
  [[nodiscard]] virtual std::span<const std::byte> schema(const type_entry&) const { return {}; }

  /// Encodes the value into `output`, which is empty. May fail with `not_supported` even for a supported type, when
  /// this one value cannot be carried; the next family is then asked.
  [[nodiscard]] virtual std::expected<void, serialize_error>
  encode(const type_entry& entry, const void* value, const context& ctx, encode_output& output) const = 0;

  /// Decodes into a default-constructed value. `frames[0]` is the body, when there are frames at all. After a failure
  /// the target may hold anything that is valid. Must withstand any bytes, unless needs_trust().
  [[nodiscard]] virtual std::expected<void, serialize_error> decode(const type_entry& entry, void* target,
                                                                    const header_fields& header,
                                                                    std::span<const frame> frames,
                                                                    const context& ctx) const = 0;
};

/// The families that a node can use, by name. Starts with "typed", "msgpack" and "json". Filled by main, then only
/// read.
class TROUPE_EXPORT family_set {
public:
  family_set();
  family_set(family_set&&) noexcept = default;
  family_set& operator=(family_set&&) noexcept = default;

  /// A second family of one name is remembered in errors(), where whoever opens anything with this set must look.
  family_set& add(std::unique_ptr<family> added);
  /// Adds the families of a shared library, which says TROUPE_FAMILIES (family_library.hpp): all of them, or when one's
  /// name is taken, none. The library stays loaded until the process ends, since whatever its families made may outlive
  /// this set. Its code runs with all rights of this process, when it is loaded and later: load only your own.
  /// Fails with `not_loaded`, which covers a library that was built against another version of Troupe, with `clash`, or
  /// with `codec_failed` when the library throws. Then nothing is added.
  [[nodiscard]] std::expected<void, serialize_error> load(const std::filesystem::path& library);
  [[nodiscard]] const family* find(std::string_view name) const;
  /// The families of these names in this order. Fails with `unknown_family`, naming the known ones.
  [[nodiscard]] std::expected<std::vector<const family*>, serialize_error>
  resolve(std::span<const std::string> names) const;
  /// The same, into memory that may be used again; what it held is replaced.
  [[nodiscard]] std::expected<void, serialize_error> resolve(std::span<const std::string> names,
                                                             std::vector<const family*>& into) const;
  [[nodiscard]] std::vector<std::string> names() const;
  [[nodiscard]] const std::vector<serialize_error>& errors() const { return errors_; }

private:
  std::vector<std::unique_ptr<family>> families_;
  std::vector<serialize_error> errors_;
};

/// Encodes with the first family that supports the type; the output is emptied first. "Not supported" goes on to the
/// next, any other failure stops. When none does, the error names the type and each family's reason.
[[nodiscard]] TROUPE_EXPORT std::expected<const family*, serialize_error>
encode_value(const type_entry& entry, const void* value, std::span<const family* const> serializers, const context& ctx,
             encode_output& output);

namespace detail {
/// The same for a part of a payload: frames that repeat others are the whole's affair.
[[nodiscard]] TROUPE_EXPORT std::expected<const family*, serialize_error>
encode_part(const type_entry& entry, const void* value, std::span<const family* const> serializers, const context& ctx,
            encode_output& output);
} // namespace detail

/// Decodes into a default-constructed value. Limits are checked here, and exceptions become errors; whether the family
/// is one that the caller accepts is the caller's to check before, see check_accepted().
[[nodiscard]] TROUPE_EXPORT std::expected<void, serialize_error>
decode_value(const type_entry& entry, void* target, const family& by, const header_fields& header,
             std::span<const frame> frames, const context& ctx);

/// The family of that name, when it is among the accepted ones. Else `refused_family`: "data serialized with cereal
/// but this link only accepts [typed, msgpack]".
[[nodiscard]] TROUPE_EXPORT std::expected<const family*, serialize_error>
check_accepted(std::string_view name, std::span<const family* const> accepted);

/// The header of (family, type) when the codec adds nothing: one constant per pair. Its bytes carry the sender's
/// layout of the type, so a link may send it once and refer to it by number from then on.
[[nodiscard]] TROUPE_EXPORT const frame& standard_header(const family& of, const type_entry& entry);

/// The header that belongs to an output: the standard one unless the codec added fields.
[[nodiscard]] TROUPE_EXPORT frame header_of(const family& of, const type_entry& entry, const encode_output& output);

} // namespace troupe
