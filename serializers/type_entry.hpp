// The types that a node can send and receive, by alias. To register types, include type_registry.hpp.
#pragma once

#include <atomic>
#include <concepts>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <typeindex>
#include <unordered_map>
#include <vector>

#include <troupe/base/export.hpp>
#include <troupe/serializers/describe.hpp>
#include <troupe/serializers/internal/coding/stand_in.hpp>
#include <troupe/serializers/payload.hpp>

namespace troupe {

class family;
class function_entry;
class value_reader;
class value_writer;

namespace detail {

class typed_reader;
class typed_writer;
struct part_access;
struct type_node;
template <class T>
std::string label_of();

} // namespace detail

/// The output of a type's own codec: bytes for the header, which the codec gets back unchanged, and frames.
struct own_form {
  std::vector<std::byte> header;
  std::vector<frame> frames;
};
TROUPE_DESCRIBE(own_form, header, frames)

/// A type's own codec for values that travel alone. Any number of threads may call it at once. Exceptions become
/// `codec_failed`.
struct own_codec {
  std::string family = "typed"; // The family to which the codec belongs.
  std::function<std::expected<own_form, serialize_error>(const void* value, const context&)> to_frames;
  /// Decodes into a value, or into memory for a value if the type has no default constructor.
  std::function<std::expected<void, serialize_error>(void* target, std::span<const std::byte> header,
                                                     std::span<const frame> frames, const context&)>
      from_frames;
  /// For codecs whose frames are payloads: checks, without decoding, that the families of all these payloads are
  /// accepted.
  std::function<std::expected<void, serialize_error>(std::span<const std::byte> header, std::span<const frame> frames,
                                                     const context&)>
      check_parts;
  bool makes_pointers = false; // If set, the type does not travel alone.
};

/// The properties and codecs of a registered type. Keeps its address while its registry lives, and longer if it is held
/// by shared_from_this().
///
/// Threads: any number of threads at once.
class TROUPE_EXPORT type_entry : public std::enable_shared_from_this<type_entry> {
public:
  /// Operations on a value at an address. Null if the type does not have the operation.
  struct lifecycle {
    void* (*allocate)() = nullptr;           // Memory for one value, as `new` allocates it.
    void (*release)(void* memory) = nullptr; // Frees memory that holds no value.
    void (*construct)(void* at) = nullptr;   // By default.
    void (*destroy)(void* at) = nullptr;
    void (*copy)(void* at, const void* source) = nullptr; // Constructs a copy.
    void (*move)(void* at, void* source) = nullptr;       // Constructs by moving.
    void (*reset)(void* at) = nullptr;                    // To the state after construct().
    std::shared_ptr<void> (*share)(void* made) = nullptr; // Takes ownership of a value made by `new`.
  };
  /// The codecs made from the type's description. Reading takes a value. If construct() is null, reading takes memory
  /// for a value instead, and on success has constructed a value there.
  struct codec_slots {
    bool (*typed_write)(detail::typed_writer&, const void*) = nullptr;
    bool (*typed_read)(detail::typed_reader&, void*) = nullptr;
    bool (*visit_write)(value_writer&, const void*) = nullptr;
    bool (*visit_read)(value_reader&, void*) = nullptr;
    const detail::type_node* consists_of = nullptr;
  };

  /// Makes the entry of T, as type_registry::add does.
  template <class T>
  type_entry(std::in_place_type_t<T>, std::string alias, std::optional<own_codec> own);

  [[nodiscard]] const std::string& alias() const { return alias_; }
  [[nodiscard]] std::type_index type() const { return type_; }
  [[nodiscard]] const std::type_info& info() const { return info_; }
  [[nodiscard]] std::size_t size_bytes() const { return size_bytes_; }
  [[nodiscard]] std::size_t alignment_bytes() const { return alignment_bytes_; }
  /// The memory of a default value in bytes, including its heap memory.
  [[nodiscard]] std::size_t value_bytes() const { return value_bytes_(); }
  [[nodiscard]] const lifecycle& life() const { return life_; }
  [[nodiscard]] const codec_slots& codecs() const { return codecs_; }
  /// The codec that was registered with the type. Null if there is none, if register_serializer() has registered
  /// another one for the type, or if the codec serves only pointers to the type.
  [[nodiscard]] const own_codec* own() const {
    return own_ && !own_->makes_pointers && (!stand_ins_ || !stand_ins_->is_registered(type_)) ? &*own_ : nullptr;
  }
  /// The place where and the reason why the type cannot travel by description ("samples[].lock: std::mutex has ...").
  /// Empty if it can travel, which includes that the registry has a codec for each part that needs one.
  [[nodiscard]] std::string unsupported() const { return foreign_.empty() ? unsupported_ : unsupported_now(); }
  [[nodiscard]] bool is_supported() const {
    return foreign_.empty() ? unsupported_.empty() : unsupported_now().empty();
  }
  /// The parts of the type's values if they can be encoded one by one: the elements of a collection, the alternative of
  /// a variant. Null for all other types.
  [[nodiscard]] const detail::part_access* parts() const { return parts_ ? parts_() : nullptr; }
  /// A class that the type is described to derive from.
  struct base {
    std::type_index type;
    void* (*of)(void* derived);
  };
  [[nodiscard]] std::span<const base> bases() const { return bases_; }

  /// Whether values mean the same everywhere: they contain nothing that a codec has to translate, such as a handle.
  [[nodiscard]] bool is_self_contained() const { return held_bytes_ != nullptr; }
  /// The approximate memory of a value in bytes. Requires: is_self_contained().
  [[nodiscard]] std::size_t memory_bytes(const void* value) const { return size_bytes_ + held_bytes_(value); }
  /// Like memory_bytes(), but without frames and arrays, which only view their memory. Requires: is_self_contained().
  [[nodiscard]] std::size_t owned_bytes(const void* value) const { return size_bytes_ + owned_bytes_(value); }

  /// The type's layout, and its hash. If the layouts of both ends are equal, decoding does not use them.
  [[nodiscard]] std::span<const std::byte> schema() const { return schema_; }
  [[nodiscard]] std::uint32_t fingerprint() const { return fingerprint_; }

  /// The header of this type's payloads in that family if the codec adds nothing. Valid while the entry lives. Made by
  /// the first call; later calls are fast.
  [[nodiscard]] const frame& standard_header(const family& of) const;

  /// Writes the value to any writer, or builds it from any reader. False on failure, or if the type has no description;
  /// the writer or reader then has the reason.
  bool write(value_writer& to, const void* value) const;
  bool read(value_reader& from, void* target) const;

  /// Attaches an object to the type. There is one object per class A; the last attached one counts.
  template <class A>
  void attach(std::shared_ptr<A> object) const {
    attach_as(typeid(A), std::move(object));
  }
  /// The attached object of class A; null if there is none. Fast. The pointer stays valid while the entry lives, even
  /// if another object is attached later.
  template <class A>
  [[nodiscard]] A* attachment() const {
    return static_cast<A*>(attached_as(typeid(A)));
  }

private:
  /// A node of a chain that only grows, at its front.
  struct attached {
    std::type_index as;
    std::shared_ptr<void> object;
    std::unique_ptr<const attached> next;
  };
  /// A node of a second such chain.
  struct kept_header {
    std::string family;
    frame header;
    std::unique_ptr<const kept_header> next;
  };
  friend class type_registry;
  [[nodiscard]] static const frame* find_header(const kept_header* first, std::string_view family);
  [[nodiscard]] std::string unsupported_now() const;
  void attach_as(std::type_index as, std::shared_ptr<void> object) const;
  [[nodiscard]] void* attached_as(std::type_index as) const;

  const std::string alias_;
  const std::type_info& info_;
  const std::type_index type_;
  const std::size_t size_bytes_;
  const std::size_t alignment_bytes_;
  std::size_t (*const value_bytes_)();
  lifecycle life_;
  codec_slots codecs_;
  const std::optional<own_codec> own_;
  std::vector<std::byte> schema_;
  std::uint32_t fingerprint_ = 0;
  std::string unsupported_;
  std::vector<detail::foreign_type> foreign_;
  std::vector<base> bases_;
  const detail::part_access* (*parts_)() = nullptr;
  std::shared_ptr<detail::stand_in_table> stand_ins_; // The registry's.
  std::size_t (*held_bytes_)(const void*) = nullptr;  // Null if values are not self-contained.
  std::size_t (*owned_bytes_)(const void*) = nullptr; // Null if values are not self-contained.

  mutable std::mutex mutex_; // Guards the members below.
  mutable std::unique_ptr<const kept_header> headers_;
  mutable std::unique_ptr<const attached> attachments_;
  // The fronts of both chains, for readers. They are stored with release and loaded with acquire, so that a reader sees
  // all nodes behind them. Encoders and decoders look here for every value, in many threads; a lock would cost too
  // much.
  mutable std::atomic<const kept_header*> first_header_ = nullptr;
  mutable std::atomic<const attached*> first_attached_ = nullptr;
};

/// The types by alias and by C++ type. A new registry contains the numbers ("i32", "f64", ...), vectors ("list<f64>")
/// and arrays ("array<f64>") of them, "bool", "char", "byte", "str", "bytes", "array<byte>", "list<str>",
/// "map<str,str>", "path", "frame", "record" and "serialized". A type that travels alone needs an entry; a member of a
/// described type does not.
///
/// Threads: any number of threads at once.
/// Lifetime: must outlive the nodes and calls that use it, the actor system of these nodes, and the any_values of its
/// types.
class TROUPE_EXPORT type_registry {
public:
  type_registry();
  type_registry(const type_registry&) = delete;
  type_registry& operator=(const type_registry&) = delete;

  /// Registers a described type under the alias that travels. Throws `registration_error` if the alias is empty or
  /// longer than 32,768 bytes (a header must have room for it), if the alias stands for another type, if the type has
  /// another alias, or if the type is registered with a codec of its own. Adding the same type again does nothing.
  template <class T>
  type_registry& add(std::string alias) {
    insert(std::make_unique<type_entry>(std::in_place_type<T>, std::move(alias), std::nullopt));
    return *this;
  }

  /// Registers a type with a codec of its own: `to_frames(const T&, const context&) -> expected<own_form,
  /// serialize_error>` and `from_frames(span<const byte> header, span<const frame>, const context&) -> expected<T,
  /// serialize_error>`. from_frames gets the output of to_frames unchanged. The codec belongs to `family` if the type
  /// travels alone. Inside another value, if the type has no description, the codec serves all families.
  ///
  /// If from_frames returns `expected<unique_ptr<T>, serialize_error>`, the codec serves pointers to T. These may point
  /// to any class that derives from T and has no alias itself. T may be abstract.
  ///
  /// Throws as above, and if the type is registered without a codec of its own or with one for another family. Adding
  /// the same type again does nothing: the first codec stays.
  template <class T, class ToFrames, class FromFrames>
  type_registry& add(std::string alias, ToFrames to_frames, FromFrames from_frames, std::string family = "typed");

  /// Registers a described type whose fields travel separately: small ones in the header, the others as payloads of
  /// their own, by the first listed family that carries them. Thus a type that no single family carries as a whole can
  /// travel. `family` names the codec's family, which must be the same on both ends. Throws as add() with a codec does.
  template <described T>
  type_registry& register_generic(std::string alias, std::string family = "typed");

  /// Lets a type that cannot be changed, and has no description, travel in the form of another type, alone and inside
  /// other values: `to(const T&) -> Form` and `from(Form) -> T`. Both may take a `const context&` as last parameter and
  /// return an `expected<..., serialize_error>`; `from` may return a unique_ptr<T>, as in add(). To travel alone, the
  /// type also needs an alias. A second registration replaces the first one, from the next value on. Throws
  /// `registration_error` if the form cannot travel; then the type has no serializer.
  template <class T, class To, class From>
  type_registry& register_serializer(To to, From from);
  /// Removes the serializer, if there is one. Then the type cannot travel any more, unless it was added with a codec.
  template <class T>
  type_registry& deregister_serializer() {
    stand_ins_->remove(typeid(T));
    return *this;
  }

  /// Lets peers run the function, by that name, if their link allows tasks. Defined in function.hpp. A functor is also
  /// registered as a type under that name, because its state travels. Adding the same function again does nothing.
  /// Throws `registration_error` if the name stands for another function, or if the function has another name.
  template <auto Function>
  type_registry& add_function(std::string name);
  template <class Functor>
  type_registry& add_function(std::string name);
  /// Finds a function by its name, or by its key in C++ (function_entry::key). Null if there is none.
  [[nodiscard]] std::shared_ptr<const function_entry> find_function(std::string_view name) const;
  [[nodiscard]] std::shared_ptr<const function_entry> find_function(std::type_index key) const;
  [[nodiscard]] std::vector<std::shared_ptr<const function_entry>> functions() const;

  /// Lets pointers to Base point to a Derived. Needed if the description of Derived does not name the base.
  template <class Derived, class Base>
  requires(std::is_polymorphic_v<Base>&& std::derived_from<Derived, Base> && !std::same_as<Derived, Base>)
      type_registry& add_base() {
    return insert_base(typeid(Derived), {.type = typeid(Base), .of = [](void* derived) -> void* {
                                           return static_cast<Base*>(static_cast<Derived*>(derived));
                                         }});
  }
  /// Whether pointers to `base` may point to objects of class `derived`. as_base() returns the object as its base, or
  /// null if they may not.
  [[nodiscard]] bool derives(std::type_index derived, std::type_index base) const;
  [[nodiscard]] void* as_base(std::type_index derived, void* object, std::type_index base) const;
  /// Whether the class's codec makes pointers to the class.
  [[nodiscard]] bool rebuilds_pointers(std::type_index type) const;
  [[nodiscard]] const detail::stand_in_table& stand_ins() const { return *stand_ins_; }

  /// The entry of that type or alias; null if there is none. Valid while the registry lives.
  [[nodiscard]] const type_entry* find(std::type_index type) const;
  [[nodiscard]] const type_entry* find(std::string_view alias) const;
  /// Like find(typeid(T)), but fast if the thread has found the type in this registry before.
  template <class T>
  [[nodiscard]] const type_entry* find() const {
    thread_local found_before known;
    if (known.registry != number_) [[unlikely]] {
      const auto* entry = find(std::type_index(typeid(T)));
      if (entry == nullptr)
        return nullptr; // It may be added later.
      known = {.registry = number_, .entry = entry};
    }
    return known.entry;
  }

  /// An entry outside of any registry, for a type that never travels alone. It uses the codecs of this registry.
  template <class T>
  [[nodiscard]] std::shared_ptr<const type_entry> unlisted_entry(std::string alias = detail::label_of<T>()) const;

  /// All entries in the order in which they were added.
  [[nodiscard]] std::vector<const type_entry*> entries() const;
  /// The error `unknown_type` for a type that is not found.
  [[nodiscard]] static serialize_error why_not_found(const std::type_info& type);

private:
  /// Throws `registration_error` if the entry clashes with an existing one.
  void insert(std::unique_ptr<type_entry> entry);
  type_registry& insert_base(std::type_index derived, type_entry::base base);
  type_registry& insert_function(std::shared_ptr<const function_entry> made);
  template <class T>
  void set_stand_in(std::shared_ptr<detail::stand_in> made, bool registered);
  template <class T>
  [[nodiscard]] std::shared_ptr<const type_entry> form_entry() const;

  /// A cached lookup. An entry that was found stays. The registry is named by a number, because another registry may
  /// later be made at the same address.
  struct found_before {
    std::uint64_t registry = 0; // None.
    const type_entry* entry = nullptr;
  };
  [[nodiscard]] static std::uint64_t next_number() noexcept;

  const std::uint64_t number_ = next_number();
  const std::shared_ptr<detail::stand_in_table> stand_ins_ = std::make_shared<detail::stand_in_table>();
  mutable std::shared_mutex mutex_; // Guards the members below.
  std::unordered_map<std::type_index, std::vector<type_entry::base>> bases_;
  std::vector<std::shared_ptr<const type_entry>> entries_;
  std::unordered_map<std::type_index, const type_entry*> by_type_;
  std::unordered_map<std::string_view, const type_entry*> by_alias_;
  std::vector<std::shared_ptr<const function_entry>> functions_;
};

/// The value as text, for logs and people: `{sensor: "roof", celsius: 21.5, samples: [1, 2]}`. Long values are cut.
[[nodiscard]] TROUPE_EXPORT std::string to_text(const type_entry& entry, const void* value);

} // namespace troupe
