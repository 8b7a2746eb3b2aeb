// The JSON Schemas of types, for documents in which types refer to each other.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <troupe/serializers/contract_tree.hpp>
#include <troupe/serializers/type_registry.hpp>

namespace troupe::web {

/// Makes the schemas of types from their contracts (contract_of), in the dialect 2020-12. A schema accepts what the
/// family `json` writes for the type. Each type has a place in the document, at which other types refer to it. So has
/// each structure without an alias that occurs in several places of a type, or contains itself.
///
/// A contract does not name the types of fields. If a field's type has all fields of exactly one registered type, and
/// no others, it refers to that type. A type whose codec is in the registry, and one that only another family carries,
/// are any JSON.
///
/// Threads: one at a time.
/// Lifetime: the registry must outlive this object.
class type_schemas {
public:
  explicit type_schemas(const type_registry& types);

  /// Returns a reference to the type's schema, as `{"$ref": ...}`. Adds that schema, and those to which it refers. For
  /// an unknown type, the result is `{}`, which accepts any JSON.
  [[nodiscard]] std::string reference_to(std::string_view alias);
  /// What has been added, as the members of the object that is at `#/components/schemas`: `"name":{...},"name":{...}`.
  [[nodiscard]] std::string members() const;

private:
  class translation;

  /// The contract of a registered type.
  struct known_type {
    contract_tree tree;
    std::size_t root = 0;
    std::string place; ///< The last part of its reference.
  };

  static constexpr std::string_view space = "#/components/schemas/";

  std::string reference_to(const known_type& of);
  [[nodiscard]] std::string free_place(std::string_view wanted) const;
  [[nodiscard]] static std::string reference(std::string_view place);
  /// Refers to a schema that several types need, and adds it.
  std::string common(std::string_view place, const std::string& schema);
  /// The type with the same fields; null if there is none, or more than one.
  [[nodiscard]] const known_type* same_type(const contract_tree& tree, std::size_t node) const;

  std::map<std::string, known_type, std::less<>> types_; // By alias.
  std::multimap<std::string, const known_type*> by_fields_;
  std::set<const known_type*> added_;
  std::map<std::string, std::string, std::less<>> places_; // Those in use, with their schemas; empty: not added yet.
};

} // namespace troupe::web
