// The types that a node can send and receive, by alias.
#pragma once

#include <atomic>
#include <concepts>
#include <cstdint>
#include <deque>
#include <expected>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <typeindex>
#include <unordered_map>
#include <vector>

#include <troupe/serializers/internal/schema.hpp>
#include <troupe/serializers/internal/self_contained.hpp>
#include <troupe/serializers/internal/typed_reader.hpp>
#include <troupe/serializers/internal/typed_writer.hpp>
#include <troupe/serializers/internal/visit_read.hpp>
#include <troupe/serializers/internal/visit_write.hpp>
#include <troupe/serializers/payload.hpp>

namespace troupe {

class family;

/// What a type's own codec makes of a value: bytes for the header, which come back untouched, and frames.
struct own_form {
  std::vector<std::byte> header;
  std::vector<frame> frames;
};

/// A type's own codec, as `type_registry::add` takes it; any exceptions become errors.
struct own_codec {
  std::function<std::expected<own_form, serialize_error>(const void*, const context&)> to_frames;
  std::function<std::expected<void, serialize_error>(void*, std::span<const std::byte>, std::span<const frame>,
                                                     const context&)>
      from_frames;
};

/// All that is known about a registered type. Stays at one address while its registry lives, and longer where somebody
/// holds it by shared_from_this().
///
/// Threads: any, at once.
class type_entry : public std::enable_shared_from_this<type_entry> {
public:
  /// What can be done with a value at an address. Null where the type cannot.
  struct lifecycle {
    void (*construct)(void* at) = nullptr; // by default
    void (*destroy)(void* at) = nullptr;
    void (*copy)(void* at, const void* source) = nullptr; // construct
    void (*move)(void* at, void* source) = nullptr;       // construct
  };
  /// The codecs made from the type's description.
  struct codec_slots {
    bool (*typed_write)(detail::typed_writer&, const void*) = nullptr;
    bool (*typed_read)(detail::typed_reader&, void*) = nullptr;
    bool (*visit_write)(value_writer&, const void*) = nullptr;
    bool (*visit_read)(value_reader&, void*) = nullptr;
  };

  /// Makes the entry of T, as type_registry::add does.
  template <class T>
  type_entry(std::in_place_type_t<T>, std::string alias, std::optional<own_codec> own);

  [[nodiscard]] const std::string& alias() const { return alias_; }
  [[nodiscard]] std::type_index type() const { return type_; }
  [[nodiscard]] const std::type_info& info() const { return info_; }
  [[nodiscard]] std::size_t size_bytes() const { return size_bytes_; }
  [[nodiscard]] std::size_t alignment_bytes() const { return alignment_bytes_; }
  [[nodiscard]] const lifecycle& life() const { return life_; }
  [[nodiscard]] const codec_slots& codecs() const { return codecs_; }
  /// The codec that the user gave to this very type, or null.
  [[nodiscard]] const own_codec* own() const { return own_ ? &*own_ : nullptr; }
  /// Where and why the description cannot carry the type ("samples[].lock: std::mutex has ..."); empty when it can.
  [[nodiscard]] const std::string& unsupported() const { return unsupported_; }

  /// Whether values mean the same wherever they are: nothing in them, such as a handle, that a codec translates for
  /// where it goes.
  [[nodiscard]] bool is_self_contained() const { return held_bytes_ != nullptr; }
  /// What a value takes in memory, roughly. Requires: is_self_contained().
  [[nodiscard]] std::size_t memory_bytes(const void* value) const { return size_bytes_ + held_bytes_(value); }

  /// The type's layout, and its hash: equal layouts are decoded without looking at it.
  [[nodiscard]] std::span<const std::byte> schema() const { return schema_; }
  [[nodiscard]] std::uint32_t fingerprint() const { return fingerprint_; }

  /// The header of this type's payloads in that family when the codec adds nothing; made once.
  [[nodiscard]] frame standard_header(const family& of) const;

  /// Writes the value to any writer, and builds it from any reader. False when that failed or the type has no
  /// description; the coder knows why.
  bool write(value_writer& to, const void* value) const;
  bool read(value_reader& from, void* target) const;

  /// Whatever the user of the registry wants to find again by type: one object per class A, the last one attached.
  template <class A>
  void attach(std::shared_ptr<A> object) const {
    attach_as(typeid(A), std::move(object));
  }
  /// Null when there is none. Quick, and stays valid while the entry lives, whatever is attached later.
  template <class A>
  [[nodiscard]] A* attachment() const {
    return static_cast<A*>(attached_as(typeid(A)));
  }

private:
  /// One of a chain that only grows, at its front.
  struct attached {
    std::type_index as;
    std::shared_ptr<void> object;
    std::unique_ptr<const attached> next;
  };
  void attach_as(std::type_index as, std::shared_ptr<void> object) const;
  [[nodiscard]] void* attached_as(std::type_index as) const;

  const std::string alias_;
  const std::type_info& info_;
  const std::type_index type_;
  const std::size_t size_bytes_;
  const std::size_t alignment_bytes_;
  lifecycle life_;
  codec_slots codecs_;
  const std::optional<own_codec> own_;
  std::vector<std::byte> schema_;
  std::uint32_t fingerprint_ = 0;
  std::string unsupported_;
  std::size_t (*held_bytes_)(const void*) = nullptr; // Null where values are not self-contained.

  mutable std::mutex mutex_; // Guards what follows.
  mutable std::vector<std::pair<std::string, frame>> headers_;
  mutable std::unique_ptr<const attached> attachments_;
  // The front of attachments_ once more, for readers: stored with release, so that who loads it with acquire sees all
  // that it leads to. Encoders and decoders look here for every value, in many threads; a lock would be felt.
  mutable std::atomic<const attached*> first_attached_ = nullptr;
};

/// The types by alias and by C++ type. Starts with the numbers ("i32", "f64", ...), "bool", "str", "bytes", vectors
/// ("list<f64>") and arrays ("array<f64>") of them.
///
/// Threads: any, at once. Members of described types need no entry of their own; what travels alone does.
class type_registry {
public:
  type_registry();
  type_registry(const type_registry&) = delete;
  type_registry& operator=(const type_registry&) = delete;

  /// Registers a described type under the name that travels. A clash is remembered in errors(), and whoever opens
  /// anything with this registry must look there. Adding the same twice does nothing.
  template <class T>
  type_registry& add(std::string alias) {
    return insert(std::make_unique<type_entry>(std::in_place_type<T>, std::move(alias), std::nullopt));
  }

  /// Registers a type with a codec of its own: `to_frames(const T&, const context&) -> expected<own_form,
  /// serialize_error>` and `from_frames(span<const byte> header, span<const frame>, const context&) -> expected<T,
  /// serialize_error>`. It belongs to the family "typed" and serves the type when it travels alone.
  template <class T, class ToFrames, class FromFrames>
  type_registry& add(std::string alias, ToFrames to_frames, FromFrames from_frames) {
    auto to = [to_frames = std::move(to_frames)](const void* value,
                                                 const context& ctx) -> std::expected<own_form, serialize_error> {
      return to_frames(*static_cast<const T*>(value), ctx);
    };
    auto from = [from_frames = std::move(from_frames)](void* target, std::span<const std::byte> header,
                                                       std::span<const frame> frames,
                                                       const context& ctx) -> std::expected<void, serialize_error> {
      std::expected<T, serialize_error> value = from_frames(header, frames, ctx);
      if (!value)
        return std::unexpected(value.error());
      *static_cast<T*>(target) = std::move(*value);
      return {};
    };
    return insert(std::make_unique<type_entry>(std::in_place_type<T>, std::move(alias),
                                               own_codec{std::move(to), std::move(from)}));
  }

  [[nodiscard]] const type_entry* find(std::type_index type) const;
  [[nodiscard]] const type_entry* find(std::string_view alias) const;
  template <class T>
  [[nodiscard]] const type_entry* find() const {
    return find(std::type_index(typeid(T)));
  }

  /// All entries in the order in which they were added.
  [[nodiscard]] std::vector<const type_entry*> entries() const;
  /// The clashes so far, each with both types named.
  [[nodiscard]] std::vector<serialize_error> errors() const;

private:
  type_registry& insert(std::unique_ptr<type_entry> entry);

  mutable std::shared_mutex mutex_; // Guards everything.
  std::vector<std::shared_ptr<const type_entry>> entries_;
  std::unordered_map<std::type_index, const type_entry*> by_type_;
  std::unordered_map<std::string_view, const type_entry*> by_alias_;
  std::vector<serialize_error> errors_;
};

/// The value as text, for logs and people: `{sensor: "roof", celsius: 21.5, samples: [1, 2]}`. Long values are cut.
[[nodiscard]] std::string to_text(const type_entry& entry, const void* value);

template <class T>
type_entry::type_entry(std::in_place_type_t<T>, std::string alias, std::optional<own_codec> own)
    : alias_(std::move(alias)),
      info_(typeid(T)),
      type_(typeid(T)),
      size_bytes_(sizeof(T)),
      alignment_bytes_(alignof(T)),
      own_(std::move(own)) {
  if constexpr (std::is_default_constructible_v<T>)
    life_.construct = [](void* at) { new (at) T(); };
  life_.destroy = [](void* at) { static_cast<T*>(at)->~T(); };
  if constexpr (detail::copyable<T>())
    life_.copy = [](void* at, const void* source) { new (at) T(*static_cast<const T*>(source)); };
  if constexpr (std::move_constructible<T>)
    life_.move = [](void* at, void* source) { new (at) T(std::move(*static_cast<T*>(source))); };
  if (own_)
    return; // Its own codec is all it needs; it may be a type that nothing can describe.
  if constexpr (detail::self_contained<T>())
    held_bytes_ = [](const void* value) { return detail::held_bytes(*static_cast<const T*>(value)); };
  detail::schema_builder builder;
  builder.add<T>();
  unsupported_ = builder.unsupported();
  schema_ = builder.take();
  fingerprint_ = detail::fingerprint_of(schema_);
  codecs_.typed_write = [](detail::typed_writer& to, const void* value) {
    return detail::typed_write(to, *static_cast<const T*>(value));
  };
  codecs_.typed_read = [](detail::typed_reader& from, void* target) {
    return detail::typed_read(from, *static_cast<T*>(target));
  };
  codecs_.visit_write = [](value_writer& to, const void* value) {
    return detail::visit_write(to, *static_cast<const T*>(value));
  };
  codecs_.visit_read = [](value_reader& from, void* target) {
    return detail::visit_read(from, *static_cast<T*>(target));
  };
}

} // namespace troupe
