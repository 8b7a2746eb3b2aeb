// inspect_serializability: tells why a type, a value or a function cannot travel, at which place, and what to do.
#pragma once

#include <concepts>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <troupe/base/export.hpp>
#include <troupe/serializers/context.hpp>
#include <troupe/serializers/family.hpp>
#include <troupe/serializers/internal/diagnose/inspecting.hpp>
#include <troupe/serializers/internal/words/type_text.hpp>
#include <troupe/serializers/serialize_error.hpp>
#include <troupe/serializers/type_registry.hpp>

namespace troupe {

/// One family's verdict on one place in a value.
struct family_answer {
  enum class travels : std::uint8_t {
    yes,
    no,
    unknown, ///< The family has rules of its own, and no registration for this type or the type that contains it.
  };

  std::string family;
  travels answer = travels::yes;
  std::string reason; ///< Contains the place: "batch.items[].lock: std::mutex guards memory of its own process".
};

/// A type and, below it, the types of which it consists, each with the verdicts of the families.
struct TROUPE_EXPORT serializability {
  std::string path; ///< From the root, which is the type's alias or name, such as "batch.items[].lock".
  std::string type; ///< The C++ type.
  std::vector<family_answer> families;
  std::string advice; ///< The remedy if the obstacle is at this very place; else empty.
  std::string note;   ///< A remark that is not an obstacle.
  /// The parts: fields, elements ("[]"), keys ("{key}") and values ("{}") of maps, alternatives ("<label>"), and the
  /// targets of pointers ("->"). If a struct appears in several places, only the first place lists its parts.
  std::vector<serializability> children;

  /// Whether at least one family carries the type.
  [[nodiscard]] bool ok() const;
  [[nodiscard]] bool carried_by(std::string_view family) const;
  /// The place of that path, here or below; null if there is none. Valid while this object lives unchanged.
  [[nodiscard]] const serializability* find(std::string_view place) const;
  /// A table for people: one line per place, with a column per family. Parts without any obstacle are not listed.
  [[nodiscard]] std::string to_text() const;
};

namespace detail {

/// Functions and pointers to them, and classes with a call operator: functors, lambdas, std::function.
template <class T>
concept callable = std::is_function_v<T> || std::is_function_v<std::remove_pointer_t<T>> || std::is_member_pointer_v<
    T> || has_call_operator<T>();

/// Texts name registered types. They are never taken for values.
template <class T>
concept alias_text = std::same_as < std::decay_t<T>,
char* >
    || std::same_as<std::decay_t<T>, const char*> || std::same_as<T, std::string> || std::same_as<T, std::string_view>;

/// The path of the root: the alias, or the type's name if it is not registered (`entry` is null).
[[nodiscard]] TROUPE_EXPORT std::string root_name(const found_type& found, const type_entry* entry);
/// `entry` is null if the type is not registered.
[[nodiscard]] TROUPE_EXPORT serializability judge_type(found_type&& found, const type_entry* entry,
                                                       const type_registry& types, const family_set& families);
/// Judges the type, then tries the value. For an unregistered type, `entry` is a temporary one.
[[nodiscard]] TROUPE_EXPORT serializability judge_value(found_type&& found, const type_entry& entry, const void* value,
                                                        const type_registry& types, const family_set& families,
                                                        const context& ctx);

template <class T>
found_type walk_over() {
  return inspected(node_of<T>);
}

template <class T>
serializability inspect_thing(const T& thing, const type_registry& types, const family_set& families,
                              const context& ctx) {
  if constexpr (std::is_object_v<T>)
    if (const auto* entry = types.find<T>())
      return judge_value(walk_over<T>(), *entry, std::addressof(thing), types, families, ctx);
  if constexpr (!is_hindered<T>() && !std::is_array_v<T>) {
    auto found = walk_over<T>();
    const auto entry = types.unlisted_entry<T>(root_name(found, nullptr));
    return judge_value(std::move(found), *entry, std::addressof(thing), types, families, ctx);
  } else {
    return judge_type(walk_over<T>(), nullptr, types, families); // There is no value to try.
  }
}

} // namespace detail

/// Tells which families carry values of the type that travel alone. The type need not be registered. If it is not, that
/// is one of the reasons.
template <class T>
requires(!std::is_void_v<T>) [[nodiscard]] serializability
    inspect_serializability(const type_registry& types, const family_set& families) {
  const auto* entry = std::is_object_v<T> ? types.find<T>() : nullptr;
  return detail::judge_type(detail::walk_over<std::remove_cv_t<T>>(), entry, types, families);
}

/// Inspects the registered type of that alias. Fails with `unknown_type`. Every text is taken as an alias. To inspect
/// the type of texts itself, pass it as a template argument.
[[nodiscard]] TROUPE_EXPORT std::expected<serializability, serialize_error>
inspect_serializability(std::string_view alias, const type_registry& types, const family_set& families);

/// Tells whether this very value travels. Besides the check of its type, each family that carries the type encodes the
/// value. The result is also decoded again, unless that could leave something behind: for shared pointers, which may
/// form a cycle, for a context with an extension, and for families that trust their input.
template <class T>
requires(!detail::callable<T> && !detail::alias_text<T>) [[nodiscard]] serializability
    inspect_serializability(const T& value, const type_registry& types, const family_set& families,
                            const context& ctx = {}) {
  return detail::inspect_thing(value, types, families, ctx);
}

/// Tells whether a function travels. A functor that is described or has a codec<T> travels as a value, with its
/// members. Functions, pointers to functions, lambdas and std::function do not travel; the advice says what to use
/// instead.
template <detail::callable T>
[[nodiscard]] serializability inspect_serializability(const T& function, const type_registry& types,
                                                      const family_set& families, const context& ctx = {}) {
  auto told = detail::inspect_thing(function, types, families, ctx);
  if constexpr (requires { function.target_type(); }) // std::function
    if (function)
      told.note = "holds " + detail::brief_type_text(function.target_type());
  return told;
}

} // namespace troupe
