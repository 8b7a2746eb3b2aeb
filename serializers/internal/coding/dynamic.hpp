// Values whose type is known only at run time: objects behind pointers to base classes, and types whose codec is in the
// registry. Format: typed/format.md.
#pragma once

#include <memory>
#include <span>
#include <typeindex>
#include <typeinfo>

#include <troupe/base/export.hpp>
#include <troupe/serializers/extend/coding.hpp>
#include <troupe/serializers/internal/coding/stand_in.hpp>

namespace troupe {

class type_entry;
class value_reader;
class value_writer;

namespace detail {

class typed_reader;
class typed_writer;

/// An object behind a pointer to a class that may have derived classes.
struct pointed_object {
  const std::type_info& is; // The object's class.
  const std::type_info& as; // The pointer's class.
  const void* whole;        // The whole object.
  const void* part;         // Its part of the pointer's class.
};

/// Writes the object under the alias of its class. Checks that it can travel before anything is written.
TROUPE_EXPORT bool write_pointee(typed_writer& to, const pointed_object& of);
TROUPE_EXPORT bool write_pointee(value_writer& to, const pointed_object& of);
/// Begins an object of the pointer's own class.
TROUPE_EXPORT bool begin_own_class(typed_writer& to);
TROUPE_EXPORT bool begin_own_class(value_writer& to);
TROUPE_EXPORT bool end_own_class(typed_writer& to);
TROUPE_EXPORT bool end_own_class(value_writer& to);
/// Whether the class can be named, so that a second pointer may refer to an object of it.
TROUPE_EXPORT bool check_class(coding& state, const pointed_object& of);

/// The class that the input names.
struct named_class {
  const type_entry* entry = nullptr;  // Null: the pointer's own class.
  const std::type_info* as = nullptr; // The pointer's class.
  std::size_t number = 0;             // In `typed`: the number of the type, among those that the input named.
};

/// The form in which the object of a shared pointer is encoded.
struct shared_place {
  bool is_numbered; // If false, the object is encoded unshared, and nothing can refer to it.
  bool is_owned;    // The pointer is not a weak_ptr.
};

[[nodiscard]] TROUPE_EXPORT std::string_view alias_of(const named_class& of);
TROUPE_EXPORT bool begin_pointee(typed_reader& from, const std::type_info& as, named_class& found);
TROUPE_EXPORT bool begin_pointee(value_reader& from, const std::type_info& as, named_class& found);
TROUPE_EXPORT bool end_pointee(typed_reader& from);
TROUPE_EXPORT bool end_pointee(value_reader& from);
/// Reads an object made by `new`, as a pointer to the pointer's class; null on failure. Requires: `of.entry`.
TROUPE_EXPORT void* read_pointee(typed_reader& from, const named_class& of);
TROUPE_EXPORT void* read_pointee(value_reader& from, const named_class& of);
TROUPE_EXPORT std::shared_ptr<void> read_shared_pointee(typed_reader& from, const named_class& of,
                                                        const shared_place& place);
TROUPE_EXPORT std::shared_ptr<void> read_shared_pointee(value_reader& from, const named_class& of,
                                                        const shared_place& place);

/// The object of class `is` as its base; null if it has no such base.
[[nodiscard]] TROUPE_EXPORT std::shared_ptr<void> as_base(const context& ctx, const std::shared_ptr<void>& object,
                                                          std::type_index is, std::type_index base);

/// Writes or reads a value of a type without a description, by the registry's codec.
TROUPE_EXPORT bool write_foreign(typed_writer& to, const std::type_info& type, const void* value);
TROUPE_EXPORT bool write_foreign(value_writer& to, const std::type_info& type, const void* value);
TROUPE_EXPORT bool read_foreign(typed_reader& from, const std::type_info& type, placing how, void* place);
TROUPE_EXPORT bool read_foreign(value_reader& from, const std::type_info& type, placing how, void* place);

/// Reads from `wire` the type that a value of `typed` names, for the decoder `state`. `is_named` is false for the type
/// that is expected anyway. False on failure, which is set in `wire` or `state`.
TROUPE_EXPORT bool read_named_type(typed_reader& wire, decoding& state, decoding::named_type& found,
                                   std::size_t& number, bool& is_named);

} // namespace detail
} // namespace troupe
