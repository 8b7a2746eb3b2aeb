#include <troupe/serializers/internal/diagnose/inspecting.hpp>

#include <algorithm>
#include <typeindex>
#include <unordered_set>
#include <utility>

#include <troupe/serializers/internal/words/type_text.hpp>

namespace troupe::detail {

namespace {

std::string text_of(const type_node& type) {
  return std::string(type.prefix) + brief_type_text(*type.info) + std::string(type.suffix);
}

std::string step_text(const type_node& type, std::size_t part) {
  switch (type.parts[part].way) {
  case step::field:
    return "." + std::string(type.parts[part].name);
  case step::pointee:
    return "->";
  case step::option:
    return "<" + type.labels()[part] + ">";
  case step::position:
    return "<" + std::to_string(part) + ">";
  case step::element:
    return "[]";
  case step::key:
    return "{key}";
  case step::inside:
  case step::mapped:
    break;
  }
  return "{}";
}

class type_inspector {
public:
  /// Adds a place of that type below the open place.
  void add(const type_node& type, std::string step) {
    found_type found;
    found.step = std::move(step);
    found.text = text_of(type);
    found.info = type.info;
    if (type.of != shape::enumeration)
      found.spelled = type.spelled;
    found.has_default = type.has_default;
    open_.push_back(std::move(found));
    look_into(type);
    end();
  }
  /// The root. Requires: add() was called once, and nothing is open.
  [[nodiscard]] found_type take() { return std::move(root_); }

private:
  void end() {
    auto found = std::move(open_.back());
    open_.pop_back();
    if (open_.empty())
      root_ = std::move(found);
    else
      open_.back().parts.push_back(std::move(found));
  }

  /// Whether the parts of the type are to be walked here. If so, the open place lists them. Structures are walked once.
  /// Other types are walked wherever they appear, but not within themselves.
  bool expand(const std::type_info& type, bool is_structure) {
    const auto walks_it = [&](const found_type& place) {
      return std::ranges::any_of(place.expands, [&](const auto* each) { return *each == type; });
    };
    if (is_structure ? structures_.insert(type).second : std::ranges::none_of(open_, walks_it)) {
      open_.back().expands.push_back(&type);
      return true;
    }
    open_.back().above = &type;
    return false;
  }

  void refuse(const type_node& type) {
    auto explained = explain(type);
    open_.back().why = text_of(type) + " " + explained.why;
    open_.back().advice = std::move(explained.advice);
    open_.back().is_final = explained.is_final;
  }

  void look_into(const type_node& type) {
    if (type.hindrance != obstacle::none)
      refuse(type);
    if (type.of == shape::shared || type.of == shape::weak)
      open_.back().may_share = true;
    if (type.may_be_derived)
      open_.back().note = "polymorphic: an object of a derived class goes by the alias of that class; register each "
                          "with types.add<...>(alias)";
    if (type.of == shape::hook && type.hindrance == obstacle::none)
      open_.back().text += " (as " + text_of(*type.parts[0].of) + ")";
    // A type that only lacks a default constructor also shows its parts, because they may be the reason.
    if (type.parts.empty() || (type.hindrance != obstacle::none && type.hindrance != obstacle::no_default)
        || !expand(*type.info, type.of == shape::structure || type.of == shape::hook))
      return;
    for (std::size_t i = 0; i < type.parts.size(); ++i)
      if (type.parts[i].way == step::inside)
        look_into(*type.parts[i].of);
      else
        add(*type.parts[i].of, step_text(type, i));
  }

  found_type root_;
  std::vector<found_type> open_;                   // From the root to the place that is being walked.
  std::unordered_set<std::type_index> structures_; // Structures that have been walked.
};

} // namespace

found_type inspected(const type_node& type) {
  type_inspector inspector;
  inspector.add(type, "");
  return inspector.take();
}

} // namespace troupe::detail
