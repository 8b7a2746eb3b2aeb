// serialize() and deserialize(): values to payloads and back, by lists of family names.
#pragma once

#include <concepts>
#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <vector>

#include <troupe/serializers/family.hpp>
#include <troupe/serializers/type_registry.hpp>

namespace troupe {

/// What becomes of a value that no listed family can carry.
enum class on_error : std::uint8_t {
  raise,   ///< serialize() fails.
  message, ///< The payload carries the error's text, and the receiver gets it as the error `sent_as_text`.
};

/// Whether the elements of a collection are encoded one by one. So far everything is encoded whole.
enum class iterate : std::uint8_t { automatic, elements, whole };

struct serialize_options {
  std::vector<std::string> serializers = {"typed", "msgpack"};
  troupe::on_error on_error = troupe::on_error::message;
  troupe::iterate iterate = troupe::iterate::automatic;
  troupe::context context = {};
};

struct deserialize_options {
  std::vector<std::string> deserializers = {"typed", "msgpack"};
  troupe::context context = {};
};

/// A value of any registered type, owned. Moves, does not copy.
class any_value {
public:
  any_value() = default;
  /// A default-constructed value; empty when the type has no default.
  explicit any_value(const type_entry& entry);
  any_value(any_value&& other) noexcept : entry_(other.entry_), value_(std::move(other.value_)) {
    other.entry_ = nullptr;
  }
  any_value& operator=(any_value&& other) noexcept;
  ~any_value();

  /// Null when there is no value.
  [[nodiscard]] const type_entry* entry() const { return entry_; }
  [[nodiscard]] void* data() { return value_.get(); }
  [[nodiscard]] const void* data() const { return value_.get(); }
  /// The value when it is a T, else null.
  template <class T>
  [[nodiscard]] T* get() {
    return entry_ != nullptr && entry_->type() == typeid(T) ? static_cast<T*>(data()) : nullptr;
  }

private:
  struct release {
    std::size_t alignment_bytes;
    void operator()(void* memory) const { ::operator delete (memory, std::align_val_t{alignment_bytes}); }
  };
  const type_entry* entry_ = nullptr;
  std::unique_ptr<void, release> value_{nullptr, release{1}};
};

[[nodiscard]] std::expected<payload, serialize_error> serialize_entry(const type_entry& entry, const void* value,
                                                                      const serialize_options& options,
                                                                      const family_set& families);
/// Decodes into a default-constructed value of that entry's type. The payload's alias must be the entry's.
[[nodiscard]] std::expected<void, serialize_error> deserialize_entry(const type_entry& entry, void* target,
                                                                     const payload& from,
                                                                     const deserialize_options& options,
                                                                     const family_set& families);

/// Encodes with the first family of the list that supports the type. Fails with `unknown_type` for unregistered types
/// and `unknown_family`; what else can fail is up to `options.on_error`.
template <class T>
[[nodiscard]] std::expected<payload, serialize_error>
serialize(const T& value, const serialize_options& options, const type_registry& types, const family_set& families) {
  const auto* entry = types.find<T>();
  if (entry == nullptr)
    return std::unexpected(
        serialize_error(serialize_errc::unknown_type,
                        "C++ type " + detail::type_text(typeid(T)) + " is in no registry: types.add<...>(alias)"));
  return serialize_entry(*entry, &value, options, families);
}

/// Decodes a T. A payload of a family that is not listed is refused before anything of it is decoded.
template <std::default_initializable T>
[[nodiscard]] std::expected<T, serialize_error> deserialize(const payload& from, const deserialize_options& options,
                                                            const type_registry& types, const family_set& families) {
  const auto* entry = types.find<T>();
  if (entry == nullptr)
    return std::unexpected(
        serialize_error(serialize_errc::unknown_type,
                        "C++ type " + detail::type_text(typeid(T)) + " is in no registry: types.add<...>(alias)"));
  T value{};
  if (auto done = deserialize_entry(*entry, &value, from, options, families); !done)
    return std::unexpected(std::move(done.error()));
  return value;
}

/// Decodes whatever type the payload's alias names.
[[nodiscard]] std::expected<any_value, serialize_error> deserialize_any(const payload& from,
                                                                        const deserialize_options& options,
                                                                        const type_registry& types,
                                                                        const family_set& families);

/// A payload kept encoded: it can be passed on, the same bytes at the same addresses, with nothing decoded.
class serialized {
public:
  serialized() = default;
  explicit serialized(payload kept) : payload_(std::move(kept)) {}

  [[nodiscard]] const payload& encoded() const { return payload_; }
  template <class T>
  [[nodiscard]] std::expected<T, serialize_error> get(const deserialize_options& options, const type_registry& types,
                                                      const family_set& families) const {
    return deserialize<T>(payload_, options, types, families);
  }

private:
  payload payload_;
};

} // namespace troupe
