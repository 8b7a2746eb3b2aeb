// Values whose type is known at run time only: what pointers to base classes point to, and types whose codec the
// registry has. Format: typed/format.md.
#pragma once

#include <memory>
#include <span>
#include <typeindex>
#include <typeinfo>

#include <troupe/base/export.hpp>
#include <troupe/serializers/coding.hpp>
#include <troupe/serializers/internal/coding/stand_in.hpp>

namespace troupe {

class type_entry;
class value_reader;
class value_writer;

namespace detail {

class typed_reader;
class typed_writer;

/// What a pointer to a class that others derive from points to.
struct pointed_object {
  const std::type_info& is; // The object's class,
  const std::type_info& as; // and the pointer's.
  const void* whole;        // The object,
  const void* part;         // and its part of the pointer's class.
};

/// The object by its class's alias. Nothing is written before it is known that it can travel.
TROUPE_EXPORT bool write_pointee(typed_writer& to, const pointed_object& of);
TROUPE_EXPORT bool write_pointee(value_writer& to, const pointed_object& of);
/// That the object is of the pointer's class, and follows.
TROUPE_EXPORT bool begin_own_class(typed_writer& to);
TROUPE_EXPORT bool begin_own_class(value_writer& to);
TROUPE_EXPORT bool end_own_class(typed_writer& to);
TROUPE_EXPORT bool end_own_class(value_writer& to);
/// Whether the class can be named, so that a second pointer may refer to an object of it.
TROUPE_EXPORT bool check_class(coding& state, const pointed_object& of);

/// The class that the input names.
struct named_class {
  const type_entry* entry = nullptr;  // Null: the pointer's own.
  const std::type_info* as = nullptr; // The pointer's.
  std::size_t number = 0;             // Of the type among those that the input named, in `typed`.
};

/// Where the object of a shared pointer stands.
struct shared_place {
  bool is_numbered; // Else it stands there without being shared, and nothing can refer to it.
  bool is_owned;    // By the pointer, which is no weak one.
};

[[nodiscard]] TROUPE_EXPORT std::string_view alias_of(const named_class& of);
TROUPE_EXPORT bool begin_pointee(typed_reader& from, const std::type_info& as, named_class& found);
TROUPE_EXPORT bool begin_pointee(value_reader& from, const std::type_info& as, named_class& found);
TROUPE_EXPORT bool end_pointee(typed_reader& from);
TROUPE_EXPORT bool end_pointee(value_reader& from);
/// What `new` gave, as a pointer to the pointer's class; null when that failed. Requires: `of.entry`.
TROUPE_EXPORT void* read_pointee(typed_reader& from, const named_class& of);
TROUPE_EXPORT void* read_pointee(value_reader& from, const named_class& of);
TROUPE_EXPORT std::shared_ptr<void> read_shared_pointee(typed_reader& from, const named_class& of,
                                                        const shared_place& place);
TROUPE_EXPORT std::shared_ptr<void> read_shared_pointee(value_reader& from, const named_class& of,
                                                        const shared_place& place);

/// The object of that class as its base; null when it has no such base.
[[nodiscard]] TROUPE_EXPORT std::shared_ptr<void> as_base(const context& ctx, const std::shared_ptr<void>& object,
                                                          std::type_index is, std::type_index base);

/// A value of a type without a description, by the registry's codec.
TROUPE_EXPORT bool write_foreign(typed_writer& to, const std::type_info& type, const void* value);
TROUPE_EXPORT bool write_foreign(value_writer& to, const std::type_info& type, const void* value);
TROUPE_EXPORT bool read_foreign(typed_reader& from, const std::type_info& type, placing how, void* place);
TROUPE_EXPORT bool read_foreign(value_reader& from, const std::type_info& type, placing how, void* place);

/// Reads in `wire` what a value of `typed` says of its own type, for the decoder `state`. False with the failure in
/// `wire`. Gives none for the type that is expected anyway.
TROUPE_EXPORT bool read_named_type(typed_reader& wire, decoding& state, decoding::named_type& found,
                                   std::size_t& number, bool& is_named);

} // namespace detail
} // namespace troupe
