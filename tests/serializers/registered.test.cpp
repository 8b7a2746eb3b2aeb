// Codecs in a registry: a type's own codec inside other values, temporary stand-ins, and attributes that are encoded
// one by one.
#include <mutex>
#include <thread>

#include <gtest/gtest.h>

#include <troupe/serializers/cereal/cereal_type.hpp>

#include "rich.hpp"

namespace registered {

// Cannot be described; only its content may travel.
class lockbox {
public:
  lockbox() = default;
  explicit lockbox(std::string content) : content_(std::move(content)) {}
  lockbox(const lockbox& other) : content_(other.content()) {}
  lockbox& operator=(const lockbox& other) {
    content_ = other.content();
    return *this;
  }
  [[nodiscard]] std::string content() const {
    const std::scoped_lock guard(mutex_);
    return content_;
  }

private:
  mutable std::mutex mutex_;
  std::string content_;
};

struct shelf {
  std::string label;
  std::vector<lockbox> boxes;
  std::map<std::string, lockbox> by_name;
  std::optional<lockbox> top;
  std::shared_ptr<lockbox> best;
};
TROUPE_DESCRIBE(shelf, label, boxes, by_name, top, best)

// Has no default constructor.
class ticket {
public:
  explicit ticket(int number) : number_(number) {}
  [[nodiscard]] int number() const { return number_; }

private:
  int number_;
};

struct wallet {
  std::vector<ticket> tickets;
  std::unique_ptr<ticket> spare;
};
TROUPE_DESCRIBE(wallet, tickets, spare)

// Points to others of its type.
class bead {
public:
  bead() = default;
  bead(std::shared_ptr<bead> next, int value) : next_(std::move(next)), value_(value) {}
  [[nodiscard]] const std::shared_ptr<bead>& next() const { return next_; }
  [[nodiscard]] int value() const { return value_; }

private:
  std::shared_ptr<bead> next_;
  int value_ = 0;
};

// Lets one lockbox travel, although no other lockbox may.
struct opened {
  lockbox* box = nullptr;
  std::string content;
  [[nodiscard]] std::tuple<std::string> reduce() const { return {box != nullptr ? box->content() : content}; }
  static opened rebuild(std::string content) { return {nullptr, std::move(content)}; }
};

// Only the family cereal can carry it.
struct legacy {
  int value = 0;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(value);
  }
};

struct model {
  std::string name;
  int epoch = 0;
  std::vector<double> weights;
  rich::point center;
  legacy old;
  std::string notes;
};
TROUPE_DESCRIBE(model, name, epoch, weights, center, old, notes)

using either = std::variant<rich::point, legacy>;

// Counts how many of it have been decoded.
struct counted {
  int value = 0;
  static inline int rebuilt_count = 0;
  [[nodiscard]] std::tuple<int> reduce() const { return {value}; }
  static counted rebuild(int value) { return ++rebuilt_count, counted{value}; }
};
using counted_or_legacy = std::variant<counted, legacy>;

struct basket {
  std::vector<counted> apples;
  std::vector<counted_or_legacy> mixed;
};
TROUPE_DESCRIBE(basket, apples, mixed)

} // namespace registered

namespace {

using namespace troupe;
using namespace registered;

lockbox boxed(std::string content) {
  return lockbox(std::move(content));
}

std::string opened_content(const lockbox& box) {
  return box.content();
}

class with_registry : public testing::TestWithParam<const char*> {
protected:
  with_registry() {
    types.add<shelf>("shelf").add<lockbox>("lockbox").add<opened>("opened").add<wallet>("wallet");
    families.add(std::make_unique<cereal_family>());
  }

  template <class T>
  std::expected<payload, serialize_error> encoded(const T& value, std::vector<std::string> serializers = {GetParam()},
                                                  iterate how = iterate::automatic) {
    return serialize(
        value, {.serializers = std::move(serializers), .on_error = on_error::raise, .iterate = how, .context = {}},
        types, families);
  }

  template <class T>
  std::expected<T, serialize_error> decoded(const payload& from,
                                            std::vector<std::string> deserializers = {GetParam()}) {
    return deserialize<T>(from, {.deserializers = std::move(deserializers), .context = {}}, types, families);
  }

  template <class T>
  std::expected<T, serialize_error> there_and_back(const T& value) {
    auto made = encoded(value);
    if (!made)
      return std::unexpected(made.error());
    return decoded<T>(*made);
  }

  type_registry types;
  family_set families;
};

INSTANTIATE_TEST_SUITE_P(, with_registry, testing::Values("typed", "msgpack", "json"),
                         [](const auto& of) { return of.param; });

shelf full_shelf() {
  return {.label = "top",
          .boxes = {boxed("a"), boxed("b")},
          .by_name = {{"c", boxed("c")}},
          .top = boxed("d"),
          .best = std::make_shared<lockbox>("e")};
}

TEST_P(with_registry, a_registered_serializer_serves_the_type_wherever_it_stands) {
  types.register_serializer<lockbox>(opened_content, boxed);
  const auto alone = there_and_back(boxed("alone"));
  ASSERT_TRUE(alone.has_value()) << alone.error().message();
  EXPECT_EQ(alone->content(), "alone");
  const auto back = there_and_back(full_shelf());
  ASSERT_TRUE(back.has_value()) << back.error().message();
  ASSERT_EQ(back->boxes.size(), 2U);
  EXPECT_EQ(back->boxes[1].content(), "b");
  EXPECT_EQ(back->by_name.at("c").content(), "c");
  EXPECT_EQ(back->top->content(), "d");
  EXPECT_EQ(back->best->content(), "e");
}

// Goal: a value that is present is not taken for absent, whatever form its codec gives.
TEST_P(with_registry, a_value_whose_form_is_nothing_is_still_there) {
  types.register_serializer<lockbox>(
      [](const lockbox& box) {
        return box.content().empty() ? std::nullopt : std::optional<std::string>(box.content());
      },
      [](const std::optional<std::string>& content) { return lockbox(content.value_or("")); });
  auto sent = full_shelf();
  sent.top = boxed("");
  sent.best = std::make_shared<lockbox>();
  const auto back = there_and_back(sent);
  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_TRUE(back->top.has_value());
  EXPECT_NE(back->best, nullptr);
  EXPECT_EQ(back->boxes[1].content(), "b");
  sent.top.reset();
  EXPECT_FALSE(there_and_back(sent)->top.has_value());
}

TEST_P(with_registry, a_serializer_comes_and_goes_at_once) {
  const auto refusal = "no family of [" + std::string(GetParam())
                       + "] can carry 'shelf': .boxes[]: registered::lockbox has neither TROUPE_DESCRIBE, nor a "
                         "codec<T>, nor reduce() and rebuild(), nor a codec in the registry";
  const auto failure = [&] {
    const auto made = encoded(full_shelf());
    return made ? std::string() : made.error().message();
  };
  EXPECT_EQ(failure(), refusal);
  types.deregister_serializer<lockbox>(); // Nothing was registered, so nothing happens.
  types.register_serializer<lockbox>(opened_content, boxed);
  EXPECT_EQ(failure(), "");
  types.register_serializer<lockbox>([](const lockbox& box) { return "new " + box.content(); }, boxed);
  EXPECT_EQ(there_and_back(full_shelf())->top->content(), "new d") << "the second one replaces the first";
  types.deregister_serializer<lockbox>().deregister_serializer<lockbox>();
  EXPECT_EQ(failure(), refusal);
  types.register_serializer<lockbox>(opened_content, boxed);
  EXPECT_EQ(there_and_back(full_shelf())->top->content(), "d");
}

TEST(registry_of_codecs, ends_with_its_codecs) {
  const auto kept = std::make_shared<int>(1);
  {
    type_registry types;
    types.register_serializer<lockbox>([kept](const lockbox& box) { return box.content(); }, boxed);
    EXPECT_EQ(kept.use_count(), 2);
  }
  EXPECT_EQ(kept.use_count(), 1);
}

TEST_P(with_registry, a_form_may_lead_back_to_the_type) {
  using form = std::tuple<std::shared_ptr<bead>, int>;
  types.add<bead>("bead");
  types.register_serializer<bead>([](const bead& from) { return form(from.next(), from.value()); },
                                  [](form from) { return bead(std::get<0>(from), std::get<1>(from)); });
  const auto back = there_and_back(bead(std::make_shared<bead>(std::make_shared<bead>(nullptr, 3), 2), 1));
  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_EQ(back->value(), 1);
  EXPECT_EQ(back->next()->value(), 2);
  EXPECT_EQ(back->next()->next()->value(), 3);
  EXPECT_EQ(back->next()->next()->next(), nullptr);
  EXPECT_TRUE(there_and_back(opened{nullptr, "still travels"}).has_value());
}

TEST_P(with_registry, each_registry_has_its_own) {
  types.register_serializer<lockbox>(opened_content, boxed);
  type_registry other;
  other.add<shelf>("shelf");
  EXPECT_NE(other.find<shelf>()->unsupported(), "");
  EXPECT_EQ(types.find<shelf>()->unsupported(), "");
}

TEST_P(with_registry, a_serializer_may_refuse_throw_and_see_the_context) {
  types.register_serializer<lockbox>(
      [](const lockbox& box, const context& ctx) -> std::expected<std::string, serialize_error> {
        if (box.content().empty())
          return std::unexpected(serialize_error(serialize_errc::codec_failed, "an empty box"));
        return std::string(ctx.recipient) + box.content();
      },
      [](std::string content, const context&) -> std::expected<lockbox, serialize_error> {
        if (content == "throw")
          throw std::runtime_error("stuck");
        return boxed(content);
      });
  auto refused = there_and_back(shelf{.label = "", .boxes = {boxed("")}, .by_name = {}, .top = {}, .best = {}});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().message(), std::string(GetParam()) + ": shelf.boxes[0]: an empty box");
  auto thrown = there_and_back(boxed("throw"));
  ASSERT_FALSE(thrown.has_value());
  EXPECT_EQ(thrown.error().message(), std::string(GetParam()) + ": lockbox: a codec threw: stuck");
  serialize_options options{.serializers = {GetParam()}, .on_error = on_error::raise, .context = {}};
  options.context.recipient = "to you: ";
  const auto made = serialize(boxed("x"), options, types, families);
  EXPECT_EQ(decoded<lockbox>(*made)->content(), "to you: x");
}

TEST_P(with_registry, one_object_travels_in_a_helper_while_the_bare_type_does_not) {
  lockbox box("content");
  EXPECT_FALSE(there_and_back(box).has_value());
  const auto back = there_and_back(opened{&box, ""});
  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_EQ(back->content, "content");
}

TEST_P(with_registry, an_own_codec_makes_values_that_have_no_default) {
  types.add<ticket>(
      "ticket",
      [](const ticket& value, const context&) -> std::expected<own_form, serialize_error> {
        return own_form{{static_cast<std::byte>(value.number())}, {}};
      },
      [](std::span<const std::byte> header, std::span<const frame>,
         const context&) -> std::expected<ticket, serialize_error> {
        if (header.size() != 1)
          return std::unexpected(serialize_error(serialize_errc::malformed, "no number"));
        return ticket(std::to_integer<int>(header[0]));
      });
  const auto alone = there_and_back(ticket(7));
  ASSERT_TRUE(alone.has_value()) << alone.error().message();
  EXPECT_EQ(alone->number(), 7);
  auto any = deserialize_any(*encoded(ticket(8)), {.deserializers = {GetParam()}, .context = {}}, types, families);
  ASSERT_TRUE(any.has_value()) << any.error().message();
  EXPECT_EQ(any->get<ticket>()->number(), 8);
  wallet sent;
  sent.tickets = {ticket(1), ticket(2)};
  sent.spare = std::make_unique<ticket>(3);
  const auto back = there_and_back(sent);
  ASSERT_TRUE(back.has_value()) << back.error().message();
  ASSERT_EQ(back->tickets.size(), 2U);
  EXPECT_EQ(back->tickets[1].number(), 2);
  EXPECT_EQ(back->spare->number(), 3);
}

TEST_P(with_registry, a_type_without_a_default_says_so) {
  EXPECT_NE(encoded(wallet{}).error().message().find("registered::ticket has neither"), std::string::npos);
}

TEST_P(with_registry, attributes_travel_each_as_they_can) {
  add_cereal<legacy>(types, "legacy");
  types.register_generic<model>("model", GetParam());
  const model sent{.name = "m",
                   .epoch = 3,
                   .weights = std::vector<double>(2000, 0.5),
                   .center = {1, 2},
                   .old = {.value = 9},
                   .notes = std::string(1000, 'n')};
  EXPECT_FALSE(encoded(sent).has_value()) << "one attribute is for cereal only";
  const auto made = encoded(sent, {GetParam(), "cereal"});
  ASSERT_TRUE(made.has_value()) << made.error().message();
  const auto refused = decoded<model>(*made);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code(), serialize_errc::refused_family);
  const auto back = decoded<model>(*made, {GetParam(), "cereal"});
  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_EQ(back->name, sent.name);
  EXPECT_EQ(back->epoch, 3);
  EXPECT_EQ(back->weights, sent.weights);
  EXPECT_EQ(back->center, sent.center);
  EXPECT_EQ(back->old.value, 9);
  EXPECT_EQ(back->notes, sent.notes);
}

TEST_P(with_registry, elements_travel_each_by_the_family_that_carries_them) {
  add_cereal<legacy>(types, "legacy");
  types.add<rich::point>("point").add<std::vector<either>>("eithers").add<std::map<std::string, either>>("by name");
  const std::vector<either> sent{rich::point{1, 2}, legacy{.value = 3}, rich::point{4, 5}};
  EXPECT_FALSE(encoded(sent, {GetParam(), "cereal"}, iterate::whole).has_value());
  const auto made = encoded(sent, {GetParam(), "cereal"});
  ASSERT_TRUE(made.has_value()) << made.error().message();
  const auto refused = decoded<std::vector<either>>(*made);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code(), serialize_errc::refused_family);
  const auto back = decoded<std::vector<either>>(*made, {GetParam(), "cereal"});
  ASSERT_TRUE(back.has_value()) << back.error().message();
  ASSERT_EQ(back->size(), 3U);
  EXPECT_EQ(std::get<rich::point>((*back)[0]), (rich::point{1, 2}));
  EXPECT_EQ(std::get<legacy>((*back)[1]).value, 3);
  const auto map = encoded(std::map<std::string, either>{{"a", legacy{.value = 1}}, {"b", rich::point{1, 2}}},
                           {GetParam(), "cereal"});
  ASSERT_TRUE(map.has_value()) << map.error().message();
  const auto map_back = decoded<std::map<std::string, either>>(*map, {GetParam(), "cereal"});
  ASSERT_TRUE(map_back.has_value()) << map_back.error().message();
  EXPECT_EQ(std::get<legacy>(map_back->at("a")).value, 1);
}

TEST_P(with_registry, parts_of_parts_are_all_checked_before_any_is_decoded) {
  add_cereal<legacy>(types, "legacy");
  types.add<counted>("counted").add<std::vector<counted_or_legacy>>("either");
  types.add<std::map<std::string, std::vector<counted_or_legacy>>>("by name");
  types.register_generic<basket>("basket", GetParam());
  const std::vector<counted_or_legacy> mixed{counted{1}, counted{2}, legacy{.value = 3}};
  const auto expect_nothing_decoded = [&]<class T>(const T& value) {
    const auto made = encoded(value, {GetParam(), "cereal"});
    ASSERT_TRUE(made.has_value()) << made.error().message();
    counted::rebuilt_count = 0;
    const auto refused = decoded<T>(*made);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code(), serialize_errc::refused_family);
    EXPECT_EQ(counted::rebuilt_count, 0) << "decoded before the refused part was found";
    const auto back = decoded<T>(*made, {GetParam(), "cereal"});
    ASSERT_TRUE(back.has_value()) << back.error().message();
    EXPECT_GE(counted::rebuilt_count, 2);
  };
  expect_nothing_decoded(mixed);
  expect_nothing_decoded(std::map<std::string, std::vector<counted_or_legacy>>{{"a", {counted{1}}}, {"b", mixed}});
  expect_nothing_decoded(basket{.apples = {counted{1}}, .mixed = mixed});
}

TEST_P(with_registry, elements_and_attributes_find_the_registrys_codecs) {
  types.register_serializer<lockbox>(opened_content, boxed);
  types.add<std::vector<lockbox>>("boxes");
  const auto each = encoded(std::vector<lockbox>{boxed("a"), boxed("b")}, {GetParam()}, iterate::elements);
  ASSERT_TRUE(each.has_value()) << each.error().message();
  EXPECT_EQ(decoded<std::vector<lockbox>>(*each)->at(1).content(), "b");
}

TEST_P(with_registry, elements_one_by_one_when_asked) {
  const std::vector<std::string> sent{"a", "", "c"};
  const auto whole = encoded(sent);
  const auto each = encoded(sent, {GetParam()}, iterate::elements);
  ASSERT_TRUE(each.has_value()) << each.error().message();
  EXPECT_EQ(parse_header(whole->header.bytes())->family, GetParam());
  EXPECT_EQ(parse_header(each->header.bytes())->family, "elements");
  EXPECT_EQ(each->frames.size(), 4U);
  EXPECT_EQ(*decoded<std::vector<std::string>>(*each), sent);
  const auto none = encoded(std::vector<std::string>(), {GetParam()}, iterate::elements);
  EXPECT_TRUE(decoded<std::vector<std::string>>(*none)->empty());
}

TEST(registered_serializers, change_while_values_travel) {
  type_registry types;
  const family_set families;
  types.add<lockbox>("lockbox");
  types.register_serializer<lockbox>(opened_content, boxed);
  std::atomic<bool> stop = false;
  std::thread changing([&] {
    for (int round = 0; round < 2000; ++round)
      types.register_serializer<lockbox>(opened_content, boxed);
    stop = true;
  });
  while (!stop) {
    const auto made = serialize(boxed("x"), {.on_error = on_error::raise, .context = {}}, types, families);
    EXPECT_TRUE(made.has_value()) << made.error().message();
  }
  changing.join();
}

} // namespace
