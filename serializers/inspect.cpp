#include <troupe/serializers/inspect.hpp>

#include <algorithm>
#include <optional>
#include <unordered_set>

#include <troupe/serializers/internal/words/failing.hpp>
#include <troupe/serializers/serialize.hpp>

namespace troupe {

namespace {

using travels = family_answer::travels;
using detail::found_type;

// A type that no family knows. A family's answer for it shows whether described types need a registration.
struct described_only {
  int field = 0;
};
TROUPE_DESCRIBE(described_only, field)

constexpr std::string_view codec_note = "has a codec in this registry";

struct asked_family {
  const family* by;
  bool by_description;    // Whether the family carries every type that the description allows.
  std::string of_unknown; // If not, the family's reason for an unknown type.
};

/// Turns the found types into the result: asks the families, and gives every place its path.
class judge {
public:
  judge(const found_type& found, const type_registry& types, const family_set& families);

  /// `entry` may be a temporary one, or null, if the type is not registered.
  [[nodiscard]] serializability root(const found_type& found, const type_entry* entry, bool is_registered) const;

private:
  /// Whether the registry has a codec for the type. Such a type needs nothing else.
  [[nodiscard]] bool is_helped(const found_type& found) const {
    const auto codec = found.info != nullptr ? types_.stand_ins().find(*found.info) : nullptr;
    return codec != nullptr && !codec->makes_pointers;
  }
  /// The reason why the type itself cannot travel by description; empty if it can.
  [[nodiscard]] std::string why_of(const found_type& found) const { return is_helped(found) ? "" : found.why; }
  [[nodiscard]] bool fails(const found_type& found) const;
  bool note_failing(const found_type& found);
  [[nodiscard]] std::string root_reason(const asked_family& asked, const found_type& found, const type_entry* entry,
                                        bool is_registered) const;
  [[nodiscard]] serializability part(const found_type& found, const serializability& above) const;
  [[nodiscard]] family_answer answer_for_part(const asked_family& asked, const found_type& found,
                                              const std::string& why) const;
  void add_parts(serializability& told, const found_type& found) const;

  const type_registry& types_;
  std::vector<asked_family> families_;
  std::unordered_set<std::type_index> failing_; // Types with a part that cannot travel by description.
};

judge::judge(const found_type& found, const type_registry& types, const family_set& families) : types_(types) {
  const auto probe =
      std::make_shared<const type_entry>(std::in_place_type<described_only>, "described_only", std::nullopt);
  for (const auto& name : families.names()) {
    const auto* by = families.find(name);
    auto reason = by->unsupported(*probe);
    families_.push_back({by, reason.empty(), std::move(reason)});
  }
  // A type fails wherever it appears, even within itself. Therefore repeat until no more types are found.
  for (auto before = SIZE_MAX; before != failing_.size();) {
    before = failing_.size();
    note_failing(found);
  }
}

bool judge::note_failing(const found_type& found) {
  bool failing = !why_of(found).empty() || (found.above != nullptr && failing_.contains(*found.above));
  for (const auto& each : found.parts)
    failing = note_failing(each) || failing;
  if (failing)
    for (const auto* each : found.expands)
      failing_.insert(*each);
  return failing;
}

bool judge::fails(const found_type& found) const {
  return !why_of(found).empty() || (found.above != nullptr && failing_.contains(*found.above))
         || std::ranges::any_of(found.expands, [&](const auto* each) { return failing_.contains(*each); });
}

// Empty if the reason is further down, where add_parts() finds it.
std::string judge::root_reason(const asked_family& asked, const found_type& found, const type_entry* entry,
                               bool is_registered) const {
  if (!is_registered) {
    if ((found.is_final && !is_helped(found)) || (asked.by_description && fails(found)))
      return found.why;
    return asked.by_description ? "is in no registry" : asked.of_unknown;
  }
  auto reason = asked.by->unsupported(*entry);
  if (!reason.empty() && entry->own() == nullptr && asked.by_description && fails(found))
    return found.why;
  return reason;
}

serializability judge::root(const found_type& found, const type_entry* entry, bool is_registered) const {
  serializability told{.path = detail::root_name(found, is_registered ? entry : nullptr), .type = found.text};
  told.note = found.note;
  for (const auto& asked : families_) {
    auto& answer = told.families.emplace_back(std::string(asked.by->name()));
    answer.reason = root_reason(asked, found, entry, is_registered);
    const bool hindered_below = asked.by_description && fails(found) && (!is_registered || !asked.by->supports(*entry));
    if (answer.reason.empty() && !hindered_below)
      continue;
    answer.answer = travels::no;
    if (!answer.reason.empty())
      answer.reason = told.path + ": " + answer.reason;
  }
  if ((is_registered && entry->own() != nullptr) || is_helped(found)) {
    told.note = codec_note;
    if (!is_registered)
      told.advice = "register it: types.add<" + found.text + ">(\"an.alias\")";
    return told; // With a codec, the parts do not matter.
  }
  told.advice = found.advice;
  if (told.advice.empty() && !is_registered)
    told.advice = "register it: types.add<" + found.text + ">(\"an.alias\")";
  add_parts(told, found);
  return told;
}

family_answer judge::answer_for_part(const asked_family& asked, const found_type& found, const std::string& why) const {
  const auto* entry = types_.find(*found.info);
  family_answer answer{std::string(asked.by->name())};
  if (asked.by_description && fails(found)) {
    answer.answer = travels::no;
    answer.reason = why;
  } else if (!asked.by_description) { // Such a family has rules of its own for the parts of unknown types.
    answer.answer = entry != nullptr && asked.by->supports(*entry) ? travels::yes : travels::unknown;
  } else if (entry != nullptr && entry->own() == nullptr) {
    answer.reason = asked.by->unsupported(*entry);
    answer.answer = answer.reason.empty() ? travels::yes : travels::no;
  }
  return answer;
}

serializability judge::part(const found_type& found, const serializability& above) const {
  serializability told{.path = above.path + found.step, .type = found.text};
  told.advice = found.advice;
  told.note = found.note;
  const auto why = why_of(found);
  if (is_helped(found)) {
    told.advice.clear();
    told.note = codec_note;
  }
  for (std::size_t i = 0; i < families_.size(); ++i) {
    // If the whole is carried, all parts are carried.
    auto answer = above.families[i].answer == travels::yes ? family_answer{above.families[i].family}
                                                           : answer_for_part(families_[i], found, why);
    if (!answer.reason.empty())
      answer.reason = told.path + ": " + answer.reason;
    told.families.push_back(std::move(answer));
  }
  if (!is_helped(found))
    add_parts(told, found);
  return told;
}

void judge::add_parts(serializability& told, const found_type& found) const {
  for (const auto& each : found.parts)
    told.children.push_back(part(each, told));
  for (std::size_t i = 0; i < families_.size(); ++i) {
    auto& answer = told.families[i];
    if (answer.answer != travels::no || !answer.reason.empty())
      continue;
    const auto culprit =
        std::ranges::find_if(told.children, [&](const auto& each) { return each.families[i].answer == travels::no; });
    answer.reason = culprit != told.children.end()
                        ? culprit->families[i].reason
                        : told.path + ": has the same problem as " + found.text + " further up";
  }
}

bool shares(const found_type& found) {
  return found.may_share || std::ranges::any_of(found.parts, shares);
}

/// The steps of the place that an error names: ".items", "[3]".
std::vector<std::string_view> steps_of(std::string_view place) {
  std::vector<std::string_view> steps;
  while (!place.empty()) {
    const auto length = std::min(place.find_first_of(".[", 1), place.size());
    steps.push_back(place.substr(0, length));
    place.remove_prefix(length);
  }
  return steps;
}

bool leads_to(std::string_view step, std::string_view named) {
  if (step.starts_with('.') || named.starts_with('.'))
    return step == named;
  if (step.starts_with('<')) // The position in a tuple.
    return step.substr(1, step.size() - 2) == named.substr(1, named.size() - 2);
  return true; // Elements, keys and values are numbered.
}

bool is_option(std::string_view step) {
  return step.starts_with('<') && (step[1] < '0' || step[1] > '9'); // Positions in a tuple are numbers.
}

/// Collects the places from `at` to the end of `steps`. False if there is no such place. Unless `whole`, the path may
/// end at a place whose parts are not listed.
bool follow(serializability& at, std::span<const std::string_view> steps, bool whole,
            std::vector<serializability*>& chain) {
  chain.push_back(&at);
  if (steps.empty() || (!whole && at.children.empty()))
    return true;
  for (auto& child : at.children) {
    const auto step = std::string_view(child.path).substr(at.path.size());
    if (step == "{key}" && steps.size() == 1 && steps[0].starts_with('['))
      return true; // Errors name the pair, not the key.
    if (step == "{key}" && !whole)
      continue;
    if (leads_to(step, steps[0]) && follow(child, steps.subspan(1), whole, chain))
      return true;
    // Errors leave out pointers and alternatives.
    if ((step == "->" || is_option(step)) && follow(child, steps, whole, chain))
      return true;
  }
  chain.pop_back();
  return false;
}

std::string_view advice_about(serialize_errc code) {
  switch (code) {
  case serialize_errc::limit_exceeded:
    return "raise the limit at both ends, or send less at once";
  case serialize_errc::codec_failed:
    return "the value is refused, not its type: send another value, or change the codec or function that refuses it";
  case serialize_errc::out_of_band_handle:
    return "handles can be sent only in messages between nodes: send it over a link";
  case serialize_errc::unknown_type:
    return "register the named type: types.add<...>(alias)";
  case serialize_errc::not_supported:
    return "send a value without it, or use a family that supports it";
  default:
    return "the codec that writes the value and the codec that reads it do not match";
  }
}

class value_trial {
public:
  value_trial(const type_entry& entry, const void* value, const type_registry& types, const family_set& families,
              const context& ctx)
      : entry_(entry), value_(value), types_(types), families_(families), ctx_(ctx) {}

  /// Encodes the value, and decodes it if `back`. Marks the first failure at its place.
  void run(const family& by, bool back, serializability& told) const;

private:
  void mark(const family& by, const serialize_error& error, std::string_view when, serializability& told) const;

  const type_entry& entry_;
  const void* value_;
  const type_registry& types_;
  const family_set& families_;
  const context& ctx_;
};

void value_trial::run(const family& by, bool back, serializability& told) const {
  const auto name = std::string(by.name());
  const auto sent = serialize_entry(
      entry_, value_, {.serializers = {name}, .on_error = on_error::raise, .context = ctx_}, types_, families_);
  if (!sent)
    return mark(by, sent.error(), "", told);
  if (!back || by.needs_trust() || ctx_.extension != nullptr)
    return;
  any_value received(entry_);
  const auto done =
      deserialize_entry(entry_, received.data(), *sent, {.deserializers = {name}, .context = ctx_}, types_, families_);
  if (!done)
    return mark(by, done.error(), "when it is decoded, ", told);
  received.complete(entry_);
}

// Parses errors such as "typed: batch.items[3].paint: 9 is no value of the enum color".
void value_trial::mark(const family& by, const serialize_error& error, std::string_view when,
                       serializability& told) const {
  const auto name = std::string(by.name());
  std::string_view text = error.message();
  for (const auto& known : {"no family of [" + name + "] can carry '" + entry_.alias() + "': ", name + ": "})
    if (text.starts_with(known))
      text.remove_prefix(known.size());
  for (const auto* next : {".", "[", ": "})
    if (text.starts_with(entry_.alias() + next)) {
      text.remove_prefix(entry_.alias().size());
      break;
    }
  const auto colon = std::min(text.find(": "), text.size());
  const bool has_place = text.starts_with('.') || text.starts_with('[');
  const auto place = has_place ? text.substr(0, colon) : std::string_view();
  const auto reason = has_place || text.starts_with(": ") ? text.substr(std::min(colon + 2, text.size())) : text;

  std::vector<serializability*> chain;
  const auto steps = steps_of(place);
  if (!follow(told, steps, true, chain) && !follow(told, steps, false, chain))
    chain = {&told};
  for (auto* each : chain) {
    const auto answer = std::ranges::find(each->families, name, &family_answer::family);
    if (answer->answer == travels::no) // Keep the earlier reason, such as an unregistered type.
      continue;
    answer->answer = travels::no;
    answer->reason = told.path + std::string(place) + ": " + std::string(when) + std::string(reason);
  }
  if (chain.back()->advice.empty())
    chain.back()->advice = advice_about(error.code());
}

} // namespace

std::string detail::root_name(const found_type& found, const type_entry* entry) {
  if (entry != nullptr)
    return entry->alias();
  return found.spelled.empty() ? found.text : std::string(found.spelled);
}

serializability detail::judge_type(found_type&& found, const type_entry* entry, const type_registry& types,
                                   const family_set& families) {
  return judge(found, types, families).root(found, entry, entry != nullptr);
}

serializability detail::judge_value(found_type&& found, const type_entry& entry, const void* value,
                                    const type_registry& types, const family_set& families, const context& ctx) {
  const judge asked(found, types, families);
  const bool is_registered = types.find(entry.type()) == &entry;
  auto told = asked.root(found, &entry, is_registered);
  const value_trial trial(entry, value, types, families, ctx);
  for (const auto& name : families.names()) {
    const auto* by = families.find(name);
    if (by->supports(entry))
      trial.run(*by, !shares(found), told);
  }
  return told;
}

std::expected<serializability, serialize_error>
inspect_serializability(std::string_view alias, const type_registry& types, const family_set& families) {
  const auto* entry = types.find(alias);
  if (entry == nullptr)
    return detail::failure(serialize_errc::unknown_type, "no type with the alias '" + std::string(alias.substr(0, 100))
                                                             + "' is registered: types.add<...>(\""
                                                             + std::string(alias.substr(0, 100))
                                                             + "\"), or ask by the C++ type");
  return detail::judge_type(detail::inspected(*entry->codecs().consists_of), entry, types, families);
}

} // namespace troupe
