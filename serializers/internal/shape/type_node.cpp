#include <troupe/serializers/internal/shape/type_node.hpp>

#include <algorithm>

namespace troupe::detail {

namespace {

/// Names nested types. `above_` are the enclosing types, whose naming has begun, because a type may contain itself.
class labelling {
public:
  std::string label_of(const type_node& type) {
    if (type.of == shape::structure || type.is_named_enum)
      return std::string(type.spelled);
    if (std::ranges::any_of(above_, [&](const auto* each) { return *each->info == *type.info; }))
      return portable_type_text(*type.info);
    above_.push_back(&type);
    auto label = find_label(type);
    above_.pop_back();
    return label;
  }

private:
  std::string find_label(const type_node& type) {
    switch (type.of) {
    case shape::boolean:
      return "bool";
    case shape::number:
      return std::string(name_of(type.kind));
    case shape::text:
      return "str";
    case shape::path:
      return "path";
    case shape::unit:
      return "none";
    case shape::record:
      return "record";
    case shape::frame:
      return "frame";
    case shape::duration:
    case shape::time_point:
      return type.unit();
    case shape::tuple:
      return "tuple<" + labels_of_parts(type) + ">";
    case shape::variant:
      return "variant<" + labels_of_parts(type) + ">";
    case shape::optional:
      return "optional<" + labels_of_parts(type) + ">";
    case shape::array:
      return "array<" + std::string(name_of(type.kind)) + ">";
    case shape::unique:
    case shape::shared:
    case shape::weak:
      return "pointer<" + label_of(*type.pointee) + ">";
    case shape::fixed:
      return "fixed<" + labels_of_parts(type) + ">";
    case shape::map:
      return "map<" + labels_of_parts(type) + ">";
    case shape::numbers:
      return "list<" + std::string(name_of(type.kind)) + ">";
    case shape::sequence:
    case shape::set:
      return "list<" + labels_of_parts(type) + ">";
    case shape::structure:
    case shape::hook: // The form does not name the type, because other types may have the same form.
    case shape::enumeration:
    case shape::unsupported:
      break;
    }
    return portable_type_text(*type.info);
  }

  std::string labels_of_parts(const type_node& type) {
    std::string text;
    for (const auto& part : type.parts)
      text += (text.empty() ? "" : ",") + label_of(*part.of);
    return text;
  }

  std::vector<const type_node*> above_;
};

} // namespace

std::string label_of(const type_node& type) {
  return labelling().label_of(type);
}

std::vector<std::string> distinct_labels(std::span<const type_part> options) {
  std::vector<std::string> labels;
  for (const auto& option : options)
    labels.push_back(label_of(*option.of));
  auto distinct = labels;
  for (std::size_t i = 0; i < labels.size(); ++i)
    for (std::size_t j = 0; j < labels.size(); ++j)
      if (*options[j].of->info != *options[i].of->info && labels[j] == labels[i]) {
        distinct[i] += " " + portable_type_text(*options[i].of->info);
        break;
      }
  for (auto i = labels.size(); i-- > 0;)
    if (const auto same = std::count(distinct.begin(), distinct.begin() + static_cast<std::ptrdiff_t>(i), distinct[i]))
      distinct[i] += "#" + std::to_string(same + 1);
  return distinct;
}

} // namespace troupe::detail
