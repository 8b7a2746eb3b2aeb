// The walk over a type for inspect_serializability: which types are in it, at which places, and what hinders each by
// itself. No family is asked here; inspect.cpp does that with what is found.
#pragma once

#include <string>
#include <string_view>
#include <typeindex>
#include <typeinfo>
#include <unordered_set>
#include <vector>

#include <troupe/base/export.hpp>
#include <troupe/serializers/internal/shape/parts.hpp>

namespace troupe::detail {

/// What a person must be told about a type, as far as the compiler knows it.
struct type_facts {
  const std::type_info& info;
  std::string_view prefix; // What typeid drops: "const ", "volatile ".
  std::string_view suffix; // "&", "&&"
  shape of;
  obstacle hindrance;
  std::string_view spelled; // As TROUPE_DESCRIBE spelled it; empty when not described.
  bool is_aggregate = false;
  bool is_callable = false;
  bool is_empty = false;
};

/// One place of the tree, as found.
struct found_type {
  std::string step;                           // From the type above: ".items", "[]", "->"
  std::string text;                           // The C++ type; "celsius (as double)" when it travels in another form.
  const std::type_info* info = nullptr;       //
  std::string_view spelled;                   //
  std::string why;                            // What hinders the type by itself; empty when nothing does.
  std::string advice;                         // What to do about that.
  std::string note;                           // Worth knowing even where nothing hinders.
  std::vector<const std::type_info*> expands; // The types whose parts are below.
  const std::type_info* above = nullptr;      // Its parts are below the first place of this type, further up.
  bool has_default = true;                    //
  bool is_final = false;                      // No family can carry the type, by whatever rule.
  bool may_share = false;                     // Is a shared pointer.
  std::vector<found_type> parts;
};

/// The text of "why" and "what to do" for a type that hinders by itself.
struct explanation {
  std::string why;
  std::string advice;
  bool is_final = false; // No family can help.
};
[[nodiscard]] TROUPE_EXPORT explanation explain(const type_facts& of);

class TROUPE_EXPORT type_inspector {
public:
  /// Adds a place of type T below the one that is open.
  template <class T>
  [[gnu::cold]] void add(std::string step);
  /// What was added. Requires: add() was called once, and nothing is open.
  [[nodiscard]] found_type take() { return std::move(root_); }

private:
  void begin(std::string step, const type_facts& facts, bool has_default);
  void end();
  /// Whether the parts of the type are to be walked here; the open place then leads to them. Structures are walked
  /// once, anything else wherever it stands, but not within itself.
  bool expand(const std::type_info& type, bool is_structure);
  void refuse(const type_facts& facts);
  void travels_as(const type_facts& form);
  void points_to_polymorphic();
  void shares();

  template <class T>
  [[gnu::cold]] void look_into(); // Cold: asked by people, instantiated for every registered type.
  template <class T, class... Parts>
  void add_parts(part_list<Parts...>);
  template <class T, class Part>
  void add_part();

  found_type root_;
  std::vector<found_type> open_;                   // From the root to the place that is being walked.
  std::unordered_set<std::type_index> structures_; // That were walked.
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
    // Overloaded and generic call operators have no address; two of the name in one class make the name ambiguous.
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
type_facts facts_of() {
  using object = std::remove_reference_t<T>;
  type_facts facts{.info = typeid(T),
                   .prefix = std::is_const_v<object>      ? "const "
                             : std::is_volatile_v<object> ? "volatile "
                                                          : "",
                   .suffix = std::is_lvalue_reference_v<T>   ? "&"
                             : std::is_rvalue_reference_v<T> ? "&&"
                                                             : "",
                   .of = shape_of<T>,
                   .hindrance = obstacle_of<T>,
                   .spelled = {}};
  if constexpr (described<T>)
    facts.spelled = spelled_name<T>;
  if constexpr (obstacle_of<T> == obstacle::not_described) {
    facts.is_aggregate = std::is_aggregate_v<T>;
    facts.is_callable = has_call_operator<T>();
    facts.is_empty = std::is_empty_v<T>;
  }
  return facts;
}

template <class T, class Part>
std::string step_text() {
  if constexpr (Part::way == step::field)
    return "." + std::string(fields_of<T>::names[Part::index]);
  else if constexpr (Part::way == step::pointee)
    return "->";
  else if constexpr (Part::way == step::option)
    return "<" + variant_labels(static_cast<const T*>(nullptr))[Part::index] + ">";
  else if constexpr (Part::way == step::position)
    return "<" + std::to_string(Part::index) + ">";
  else if constexpr (Part::way == step::element)
    return "[]";
  else if constexpr (Part::way == step::key)
    return "{key}";
  else
    return "{}";
}

template <class T>
void type_inspector::add(std::string step) {
  begin(std::move(step), facts_of<T>(), std::is_default_constructible_v<T>);
  look_into<T>();
  end();
}

template <class T>
void type_inspector::look_into() {
  constexpr auto of = shape_of<T>;
  constexpr auto hindrance = obstacle_of<T>;
  if constexpr (hindrance != obstacle::none)
    refuse(facts_of<T>());
  if constexpr (of == shape::shared || of == shape::weak)
    shares();
  if constexpr (of == shape::unique || of == shape::shared || of == shape::weak) {
    using pointee = typename T::element_type;
    if constexpr (may_be_derived<pointee>)
      points_to_polymorphic();
  }
  if constexpr (of == shape::hook && hindrance == obstacle::none)
    travels_as(facts_of<typename hook<T>::form>());
  // Of a type that only lacks a default constructor the parts are shown as well: they may be why.
  if constexpr (!std::is_same_v<parts_of<T>,
                                part_list<>> && (hindrance == obstacle::none || hindrance == obstacle::no_default))
    if (expand(typeid(T), of == shape::structure || of == shape::hook))
      add_parts<T>(parts_of<T>());
}

template <class T, class... Parts>
void type_inspector::add_parts(part_list<Parts...>) {
  (add_part<T, Parts>(), ...);
}

template <class T, class Part>
void type_inspector::add_part() {
  if constexpr (Part::way == step::inside)
    look_into<typename Part::type>();
  else
    add<typename Part::type>(step_text<T, Part>());
}

} // namespace troupe::detail
