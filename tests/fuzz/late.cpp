#include "late.hpp"

#include <set>

namespace fuzz {

using namespace troupe;

namespace {

class talker final : public animal {
public:
  explicit talker(std::string words) : words_(std::move(words)) {}
  [[nodiscard]] std::string says() const override { return words_; }

private:
  std::string words_;
};

std::expected<own_form, serialize_error> form_of_animal(const animal& from, const context&) {
  const auto words = from.says();
  const auto bytes = std::as_bytes(std::span(words));
  return own_form{{bytes.begin(), bytes.end()}, {}};
}

std::expected<std::unique_ptr<animal>, serialize_error> animal_of_form(std::span<const std::byte> header,
                                                                       std::span<const frame> frames, const context&) {
  if (!frames.empty() || header.empty())
    return std::unexpected(serialize_error(serialize_errc::malformed, "no animal says nothing"));
  return std::make_unique<talker>(std::string(reinterpret_cast<const char*>(header.data()), header.size()));
}

std::expected<own_form, serialize_error> form_of_ticket(const ticket& from, const context&) {
  return own_form{{}, from.stamps()};
}

std::expected<ticket, serialize_error> ticket_of_form(std::span<const std::byte> header, std::span<const frame> frames,
                                                      const context&) {
  if (!header.empty())
    return std::unexpected(serialize_error(serialize_errc::malformed, "a ticket with something on it"));
  return ticket({frames.begin(), frames.end()});
}

/// Detaches the followers of all figures and keeps them, so that they are then destroyed one by one.
class circle_cutter {
public:
  void cut(figure* at) {
    if (at == nullptr || !seen_.insert(at).second)
      return;
    if (at->next) {
      taken_.push_back(std::exchange(at->next, nullptr));
      waiting_.push_back(taken_.back().get());
    }
    if (auto* with_more = dynamic_cast<plate*>(at))
      waiting_.push_back(with_more->on_top.get());
    while (!waiting_.empty()) {
      auto* each = waiting_.back();
      waiting_.pop_back();
      cut(each);
    }
  }

private:
  std::set<figure*> seen_;
  std::vector<figure*> waiting_;
  std::vector<std::shared_ptr<figure>> taken_;
};

void cut_in(circle_cutter& by, late& value) {
  by.cut(value.single.get());
  for (const auto& each : value.figures)
    by.cut(each.get());
  by.cut(dynamic_cast<figure*>(value.panel.get()));
  by.cut(value.seen.lock().get());
  by.cut(value.sun.get());
  if (const auto* owned = std::get_if<std::unique_ptr<figure>>(&value.any_of))
    by.cut(owned->get());
}

template <class T>
T* value_as(const type_entry& entry, void* value) {
  return entry.type() == typeid(T) ? static_cast<T*>(value) : nullptr;
}

} // namespace

late full_late() {
  late it;
  auto first = std::make_shared<plate>();
  first->name = "first";
  first->width = 3;
  first->paint = rich::color::blue;
  first->twin = first;
  first->on_top = std::make_unique<nail>(4, first);
  first->words = {"a", "b"};
  auto second = std::make_shared<disc>();
  second->radius = 2.5;
  second->next = first;
  first->next = second;
  it.single = std::make_unique<disc>();
  it.figures = {first, nullptr, second, std::make_shared<figure>(), std::make_shared<nail>(1, second), first};
  it.panel = first;
  it.seen = second;
  it.sun = second;
  it.animals.push_back(std::make_unique<talker>("woof"));
  it.animals.push_back(nullptr);
  it.star = std::make_shared<talker>("meow");
  it.boxes = {lockbox("gold"), lockbox()};
  it.boxes_by_name = {{"b", lockbox("tin")}};
  it.top = lockbox("air");
  it.best = std::make_shared<lockbox>("iron");
  it.tickets.emplace_back(std::vector{rich::frame_of("stamp")});
  it.spare = std::make_unique<ticket>(std::vector<frame>());
  it.anything = record::of({{"flag", true}, {"count", -5}, {"many", UINT64_MAX}, {"real", 1.5}, {"none", nullptr}});
  const std::vector<float> numbers = {1, 2, 3, 4};
  it.records = {record(array<float>::copy_of(numbers, {2, 2})), record(rich::frame_of("bytes")),
                record(record::list{record(1), record("text"), record(record::list())})};
  it.maybe = record();
  it.note = std::make_shared<record>("note");
  it.same_note = it.note;
  it.rows = {{1, 2}, {}, {3}};
  it.any_of = record("any");
  return it;
}

model full_model() {
  model it;
  it.name = "small";
  it.epoch = 3;
  it.weights = {1, 2.5};
  it.boxes = {{"k", lockbox("gold")}};
  it.notes = record::of({{"by", "me"}});
  it.emblem = std::make_shared<disc>();
  it.emblem->next = std::make_shared<figure>();
  return it;
}

void add_late_codecs(type_registry& types) {
  types.add<animal>("animal", form_of_animal, animal_of_form).add<ticket>("ticket", form_of_ticket, ticket_of_form);
  types.register_serializer<lockbox>([](const lockbox& from) { return from.content(); },
                                     [](std::optional<std::string> content) { return lockbox(std::move(content)); });
  types.add<lockbox>("lockbox");
}

void add_late(type_registry& types) {
  add_late_codecs(types);
  types.add<figure>("figure").add<disc>("disc").add<plate>("plate").add<nail>("nail").add_base<nail, figure>();
  types.add<late>("late").register_generic<model>("model").add<models>("models").add<choices>("choices");
  types.add<choice>("choice").add<rows>("rows");
}

void cut_late_circles(const type_entry& entry, void* value) {
  circle_cutter by;
  if (auto* whole = value_as<late>(entry, value))
    cut_in(by, *whole);
  if (auto* one = value_as<model>(entry, value))
    by.cut(one->emblem.get());
  if (auto* several = value_as<models>(entry, value))
    for (const auto& [name, each] : *several)
      by.cut(each.emblem.get());
  if (auto* one = value_as<choice>(entry, value))
    if (const auto* within = std::get_if<model>(one))
      by.cut(within->emblem.get());
  if (auto* several = value_as<choices>(entry, value))
    for (auto& each : *several)
      by.cut(std::get_if<disc>(&each));
  by.cut(value_as<figure>(entry, value));
  by.cut(value_as<disc>(entry, value));
  by.cut(value_as<plate>(entry, value));
  by.cut(value_as<nail>(entry, value));
}

std::vector<serialized> payloads_within(const type_entry& entry, const void* value) {
  if (entry.type() == typeid(serialized))
    return {*static_cast<const serialized*>(value)};
  return entry.type() == typeid(late) ? static_cast<const late*>(value)->payloads : std::vector<serialized>();
}

} // namespace fuzz
