// The tree of inspect_serializability as a text for people.
#include <algorithm>

#include <troupe/serializers/inspect.hpp>

namespace troupe {

namespace {

using travels = family_answer::travels;

/// Whether the place, or one below it, has an obstacle, an advice or a note.
bool is_notable(const serializability& place) {
  return !place.note.empty() || !place.advice.empty()
         || std::ranges::any_of(place.families, [](const auto& each) { return each.answer == travels::no; })
         || std::ranges::any_of(place.children, is_notable);
}

class tree_text {
public:
  explicit tree_text(const serializability& root) {
    for (const auto& each : root.families) {
      widths_.push_back(std::max<std::size_t>(each.family.size(), 3) + 2);
      text_ += padded(each.family, widths_.back());
      columns_ += widths_.back();
    }
    text_ += "\n";
    add(root, 0);
  }

  [[nodiscard]] std::string take() { return std::move(text_); }

private:
  static std::string padded(std::string text, std::size_t width) {
    text.resize(std::max(width, text.size()), ' ');
    return text;
  }

  void add(const serializability& place, std::size_t depth) {
    for (std::size_t i = 0; i < widths_.size(); ++i) {
      const auto answer = place.families[i].answer;
      text_ += padded(answer == travels::yes ? "yes" : answer == travels::no ? "no" : "-", widths_[i]);
    }
    text_ += std::string(2 * depth, ' ') + place.path + ": " + place.type + "\n";
    add_reasons(place, depth + 1);
    add_line(depth + 1, "do: ", place.advice);
    add_line(depth + 1, "note: ", place.note);
    std::size_t others = 0;
    for (const auto& each : place.children) {
      if (is_notable(each))
        add(each, depth + 1);
      else
        ++others;
    }
    if (others > 0 && others < place.children.size())
      add_line(depth + 1, "", "and " + std::to_string(others) + " more without problems");
  }

  // Adds the reasons at the places to which they apply. The places above only show "no".
  void add_reasons(const serializability& place, std::size_t depth) {
    std::vector<std::pair<std::string, std::string>> said; // The reason, and the families that give it.
    bool all_said = true;
    for (std::size_t i = 0; i < place.families.size(); ++i) {
      const auto& answer = place.families[i];
      const bool lies_below =
          std::ranges::any_of(place.children, [&](const auto& each) { return each.families[i].answer == travels::no; });
      if (answer.answer == travels::no && lies_below)
        all_said = false;
      if (answer.answer != travels::no || lies_below)
        continue;
      auto reason = answer.reason;
      if (reason.starts_with(place.path + ": "))
        reason.erase(0, place.path.size() + 2);
      const auto same = std::ranges::find(said, reason, &std::pair<std::string, std::string>::first);
      if (same == said.end())
        said.emplace_back(reason, answer.family);
      else
        same->second += ", " + answer.family;
    }
    for (const auto& [reason, families] : said)
      add_line(depth, all_said && said.size() == 1 ? "why: " : "why (" + families + "): ", reason);
  }

  void add_line(std::size_t depth, std::string_view before, const std::string& line) {
    if (!line.empty())
      text_ += std::string(columns_ + 2 * depth, ' ') + std::string(before) + line + "\n";
  }

  std::string text_;
  std::vector<std::size_t> widths_;
  std::size_t columns_ = 0;
};

} // namespace

bool serializability::ok() const {
  return std::ranges::any_of(families, [](const auto& each) { return each.answer == travels::yes; });
}

bool serializability::carried_by(std::string_view family) const {
  return std::ranges::any_of(families,
                             [&](const auto& each) { return each.family == family && each.answer == travels::yes; });
}

const serializability* serializability::find(std::string_view place) const {
  if (place == path)
    return this;
  for (const auto& each : children)
    if (place.starts_with(each.path))
      if (const auto* found = each.find(place))
        return found;
  return nullptr;
}

std::string serializability::to_text() const {
  return tree_text(*this).take();
}

} // namespace troupe
