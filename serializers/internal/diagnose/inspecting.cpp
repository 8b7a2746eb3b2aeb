#include <troupe/serializers/internal/diagnose/inspecting.hpp>

#include <algorithm>

#include <troupe/serializers/internal/words/type_text.hpp>

namespace troupe::detail {

namespace {

std::string text_of(const type_facts& facts) {
  return std::string(facts.prefix) + brief_type_text(facts.info) + std::string(facts.suffix);
}

} // namespace

void type_inspector::begin(std::string step, const type_facts& facts, bool has_default) {
  found_type found;
  found.step = std::move(step);
  found.text = text_of(facts);
  found.info = &facts.info;
  found.spelled = facts.spelled;
  found.has_default = has_default;
  open_.push_back(std::move(found));
}

void type_inspector::end() {
  auto found = std::move(open_.back());
  open_.pop_back();
  if (open_.empty())
    root_ = std::move(found);
  else
    open_.back().parts.push_back(std::move(found));
}

bool type_inspector::expand(const std::type_info& type, bool is_structure) {
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

void type_inspector::refuse(const type_facts& facts) {
  auto explained = explain(facts);
  open_.back().why = text_of(facts) + " " + explained.why;
  open_.back().advice = std::move(explained.advice);
  open_.back().is_final = explained.is_final;
}

void type_inspector::travels_as(const type_facts& form) {
  open_.back().text += " (as " + text_of(form) + ")";
}

void type_inspector::points_to_polymorphic() {
  open_.back().note = "polymorphic: an object of a derived class goes by the alias of that class; register each with "
                      "types.add<...>(alias)";
}

void type_inspector::shares() {
  open_.back().may_share = true;
}

} // namespace troupe::detail
