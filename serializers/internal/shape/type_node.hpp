// Types as values. Walks over a type without a value go from node to node, in plain functions that are compiled only
// once. Layouts, contracts, labels and texts about types are made from the nodes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <variant>
#include <vector>

#include <troupe/base/export.hpp>
#include <troupe/serializers/internal/shape/parts.hpp>

namespace troupe::detail {

struct type_node;

struct type_part {
  step way;
  const type_node* of;
  std::string_view name; // Of a field.
};

/// The properties of a type. Each type has one node.
struct type_node {
  const std::type_info* info;
  shape of;
  obstacle hindrance;
  std::string_view prefix;  // Omitted by typeid: "const ", "volatile ".
  std::string_view suffix;  // "&", "&&"
  std::string_view spelled; // As in TROUPE_DESCRIBE; empty if not described.
  bool has_default = false; // A value can be made without arguments.
  bool is_built_in_array = false;
  // Of classes without a description, for advice.
  bool is_aggregate = false;
  bool is_callable = false;
  bool is_empty = false;

  std::span<const type_part> parts;
  // Of pointers.
  const type_node* pointee = nullptr;
  bool may_be_derived = false; // Objects of derived classes are allowed.
  bool is_makeable = false;    // Objects of the pointer's own class can be made.
  // Of numbers, the underlying types of enums, and the elements of `numbers` and `array`.
  number_kind kind{};
  bool is_boolean_enum = false;
  // Of enums with names.
  bool is_named_enum = false;
  std::span<const std::string_view> names;
  std::span<const std::int64_t> values;
  std::size_t count = 0;                                 // Of elements, if fixed.
  const std::string& (*unit)() = nullptr;                // Of durations and points in time.
  const std::vector<std::string>& (*labels)() = nullptr; // Of the alternatives of variants.
};

template <class T>
consteval bool has_call_operator() {
  if constexpr (!std::is_class_v<T>) {
    return false;
  } else if constexpr (std::is_final_v<T>) {
    return requires {
      &T::operator();
    };
  } else {
    // Overloaded and generic call operators have no address. If two bases have the name, it is ambiguous.
    struct other {
      void operator()() {}
    };
    struct both : T, other {};
    return !requires {
      &both::operator();
    };
  }
}

template <class T>
constexpr type_node make_node();
template <class T>
inline constexpr type_node node_of = make_node<T>();

template <class T, class Part>
constexpr std::string_view part_name() {
  if constexpr (Part::way == step::field)
    return fields_of<T>::names[Part::index];
  else
    return {};
}
template <class T, class Parts>
struct node_parts;
template <class T, class... Parts>
struct node_parts<T, part_list<Parts...>> {
  static constexpr std::array<type_part, sizeof...(Parts)> all{
      type_part{Parts::way, &node_of<typename Parts::type>, part_name<T, Parts>()}...};
};

template <described_enum T>
struct enum_names {
  static constexpr auto described = troupe_description(describe_tag<T>{});
  static constexpr auto values = [] {
    std::array<std::int64_t, described.values.size()> made{};
    for (std::size_t i = 0; i < made.size(); ++i)
      made[i] = static_cast<std::int64_t>(described.values[i]);
    return made;
  }();
};

template <class T>
struct option_labels;

template <class T>
constexpr type_node make_node() {
  using object = std::remove_reference_t<T>;
  constexpr auto of = shape_of<T>;
  type_node made{.info = &typeid(T), .of = of, .hindrance = obstacle_of<T>};
  made.prefix = std::is_const_v<object> ? "const " : std::is_volatile_v<object> ? "volatile " : "";
  made.suffix = std::is_lvalue_reference_v<T> ? "&" : std::is_rvalue_reference_v<T> ? "&&" : "";
  made.has_default = std::is_default_constructible_v<T>;
  made.is_built_in_array = std::is_array_v<T>;
  if constexpr (described<T> || described_enum<T>)
    made.spelled = spelled_name<T>;
  if constexpr (obstacle_of<T> == obstacle::not_described) {
    made.is_aggregate = std::is_aggregate_v<T>;
    made.is_callable = has_call_operator<T>();
    made.is_empty = std::is_empty_v<T>;
  }
  made.parts = node_parts<T, parts_of<T>>::all;
  if constexpr (of == shape::unique || of == shape::shared || of == shape::weak) {
    using pointee = std::remove_const_t<typename T::element_type>;
    made.pointee = &node_of<pointee>;
    made.may_be_derived = may_be_derived<pointee>;
    made.is_makeable = makeable<pointee>();
  } else if constexpr (of == shape::number) {
    made.kind = kind_of<T>;
  } else if constexpr (of == shape::enumeration) {
    using underlying = std::underlying_type_t<T>;
    made.is_boolean_enum = std::is_same_v<underlying, bool>;
    if constexpr (!std::is_same_v<underlying, bool>)
      made.kind = kind_of<underlying>;
    if constexpr (described_enum<T>) {
      made.is_named_enum = true;
      made.names = enum_names<T>::described.names;
      made.values = enum_names<T>::values;
    }
  } else if constexpr (of == shape::numbers || of == shape::array) {
    made.kind = kind_of<typename T::value_type>;
  } else if constexpr (of == shape::fixed) {
    made.count = fixed_extent<T>::count;
  } else if constexpr (of == shape::duration || of == shape::time_point) {
    made.unit = &unit_of<T>;
  } else if constexpr (of == shape::variant) {
    made.labels = &option_labels<T>::get;
  }
  return made;
}

/// A name for the type that is the same on every machine and compiler. It distinguishes a variant's alternatives.
[[nodiscard]] TROUPE_EXPORT std::string label_of(const type_node& type);
template <class T>
std::string label_of() {
  return label_of(node_of<T>);
}

/// The labels of alternatives. If different types have the same name (a list and a set, structs of two namespaces),
/// their full names are appended. If a type occurs repeatedly, the later ones get "#2", "#3", ...
[[nodiscard]] TROUPE_EXPORT std::vector<std::string> distinct_labels(std::span<const type_part> options);

template <class T>
struct option_labels {
  static const std::vector<std::string>& get() {
    static const auto labels = distinct_labels(node_of<T>.parts);
    return labels;
  }
};

/// The labels of a variant's alternatives.
template <class T>
const std::vector<std::string>& variant_labels(const T*) {
  return option_labels<T>::get();
}

} // namespace troupe::detail
