// A registry's codecs for types that have none at compile time: the value travels in the form of another type.
#pragma once

#include <atomic>
#include <expected>
#include <functional>
#include <memory>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <typeindex>
#include <unordered_map>

#include <troupe/base/export.hpp>
#include <troupe/serializers/context.hpp>
#include <troupe/serializers/serialize_error.hpp>

namespace troupe {

class type_entry;

namespace detail {

/// The destination of a rebuilt value.
enum class placing : std::uint8_t {
  assign,    // `place` is a value of the type.
  construct, // `place` is memory for a value.
  make,      // `place` is a pointer to the type, and gets the result of `new`.
};

/// Completes "T has ..." for a value of a type whose codec makes pointers.
inline constexpr std::string_view codec_for_pointers =
    "a codec that makes pointers to it, and is no pointer here: hold it by a unique_ptr or shared_ptr";

/// A part whose type has no codec of its own.
struct foreign_type {
  std::type_index type;
  std::string place; // "samples[].lock"
};

struct stand_in {
  std::shared_ptr<const type_entry> form;
  std::function<std::expected<std::shared_ptr<void>, serialize_error>(const void* value, const context&)> reduce;
  /// Rebuilds a value from the form, and consumes the form.
  std::function<std::expected<void, serialize_error>(placing, void* place, void* form, const context&)> rebuild;
  /// Whether the codec rebuilds pointers. If so, it also serves classes that derive from the type, but no values.
  bool makes_pointers = false;
};

/// All codecs of one registry. Outlives the registry if entries do.
///
/// Threads: any number of threads at once.
class TROUPE_EXPORT stand_in_table {
public:
  using pointer = std::shared_ptr<const stand_in>;

  /// Adds a codec that came with the type, by type_registry::add().
  void add(std::type_index type, pointer codec);
  /// Adds a codec that was registered for the type. It takes precedence.
  void put(std::type_index type, pointer codec);
  void remove(std::type_index type);

  [[nodiscard]] pointer find(std::type_index type) const;
  /// Whether a registered codec hides the one that came with the type. Fast if none is registered.
  [[nodiscard]] bool is_registered(std::type_index type) const {
    return registered_count_.load(std::memory_order_acquire) > 0 && is_among_registered(type);
  }

private:
  [[nodiscard]] bool is_among_registered(std::type_index type) const;

  mutable std::shared_mutex mutex_; // Guards the maps.
  std::unordered_map<std::type_index, pointer> own_;
  std::unordered_map<std::type_index, pointer> registered_;
  std::atomic<std::size_t> registered_count_ = 0;
};

} // namespace detail
} // namespace troupe
