// Pointers to base classes. The object travels as its own class, by that class's alias.
#include <cstdlib>

#include <gtest/gtest.h>

#include <troupe/serializers/inspect.hpp>

#include "rich.hpp"

namespace pointers {

struct shape {
  shape() = default;
  shape(const shape&) = default;
  shape& operator=(const shape&) = default;
  virtual ~shape() = default;
  [[nodiscard]] virtual double area() const = 0;
  std::string color;
};
TROUPE_DESCRIBE(shape, color)

struct named {
  virtual ~named() = default;
  std::string name;
};
TROUPE_DESCRIBE(named, name)

struct circle : shape {
  circle() = default;
  explicit circle(double r) : radius(r) {}
  [[nodiscard]] double area() const override { return 3 * radius * radius; }
  double radius = 0;
};
TROUPE_DESCRIBE_DERIVED(circle, (shape), radius)

// Has a base that does not lie at its beginning.
struct room : shape, named {
  [[nodiscard]] double area() const override { return width * length; }
  int width = 0;
  int length = 0;
};
TROUPE_DESCRIBE_DERIVED(room, (shape, named), width, length)

struct hall : room {
  std::vector<std::string> seats;
};
TROUPE_DESCRIBE_DERIVED(hall, (room), seats)

// Both bases share a virtual base.
struct lit : virtual named {
  int lamps = 0;
};
TROUPE_DESCRIBE_DERIVED(lit, (named), lamps)
struct heated : virtual named {
  int stoves = 0;
};
TROUPE_DESCRIBE_DERIVED(heated, (named), stoves)
struct studio : lit, heated {
  int desks = 0;
};
TROUPE_DESCRIBE_DERIVED(studio, (lit, heated), desks)
static_assert(troupe::fields_of<studio>::names == std::array<std::string_view, 4>{"name", "lamps", "stoves", "desks"});

// A later version of `circle`, and a type without the fields that the first version had.
struct circle_2 : shape {
  [[nodiscard]] double area() const override { return 3 * radius * radius; }
  std::string unit = "m";
  float radius = 0;
};
TROUPE_DESCRIBE_DERIVED(circle_2, (shape), unit, radius)

struct stranger {
  int value = 0;
};
TROUPE_DESCRIBE(stranger, value)

struct drawing {
  std::unique_ptr<shape> frame;
  std::vector<std::shared_ptr<shape>> shapes;
  std::shared_ptr<named> title;
  std::shared_ptr<circle> sun;
  std::weak_ptr<shape> watched;
};
TROUPE_DESCRIBE(drawing, frame, shapes, title, sun, watched)

struct knot {
  virtual ~knot() = default;
  std::shared_ptr<knot> next;
};
TROUPE_DESCRIBE(knot, next)

struct colored_knot : knot {
  std::string color;
};
TROUPE_DESCRIBE_DERIVED(colored_knot, (knot), color)

struct rope {
  std::shared_ptr<knot> first;
};
TROUPE_DESCRIBE(rope, first)

// Has no description and no data.
struct task {
  virtual ~task() = default;
  virtual int run() = 0;
};

// Can be constructed only in one way.
class adding final : public task {
public:
  adding(int a, int b) : a_(a), b_(b) {}
  int run() override { return a_ + b_; }
  [[nodiscard]] std::tuple<int, int> reduce() const { return {a_, b_}; }
  static adding rebuild(int a, int b) { return {a, b}; }

private:
  int a_;
  int b_;
};

struct job {
  std::unique_ptr<task> what;
  std::shared_ptr<task> then;
};
TROUPE_DESCRIBE(job, what, then)

// A class hierarchy with one codec for all of its classes.
struct animal {
  virtual ~animal() = default;
  [[nodiscard]] virtual std::string says() const = 0;
};
struct dog final : animal {
  [[nodiscard]] std::string says() const override { return "woof"; }
};
struct cat final : animal {
  [[nodiscard]] std::string says() const override { return "meow"; }
};

// Polymorphic, but must not be deleted through a pointer to the base.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"
struct frail {
  int number = 0;
  [[nodiscard]] virtual int twice() const { return 2 * number; }
};
struct frailer final : frail {
  int more = 0;
};
#pragma GCC diagnostic pop
TROUPE_DESCRIBE(frail, number)
TROUPE_DESCRIBE_DERIVED(frailer, (frail), more)
struct holder {
  std::unique_ptr<frail> it;
};
TROUPE_DESCRIBE(holder, it)

// Has its own operator new and operator delete.
struct pooled final : animal {
  inline static int taken = 0;
  inline static int given_back = 0;
  static void* operator new(std::size_t size) { return ++taken, std::malloc(size); }
  static void operator delete(void* memory) { ++given_back, std::free(memory); }
  std::string name;
  [[nodiscard]] std::string says() const override { return name; }
};
TROUPE_DESCRIBE(pooled, name)

struct zoo {
  std::vector<std::unique_ptr<animal>> animals;
  std::shared_ptr<animal> star;
};
TROUPE_DESCRIBE(zoo, animals, star)

} // namespace pointers

namespace {

using namespace troupe;
using namespace pointers;

class polymorphic : public testing::TestWithParam<const char*> {
protected:
  polymorphic() {
    for (auto* types : {&here, &there})
      types->add<drawing>("drawing").add<rope>("rope").add<job>("job").add<zoo>("zoo").add<rich::point>("point");
    here.add<circle>("circle").add<room>("room").add<hall>("hall").add<colored_knot>("colored");
    there.add<room>("room").add<hall>("hall").add<colored_knot>("colored");
  }

  template <class T>
  std::expected<payload, serialize_error> encoded(const T& value) {
    return serialize(value, {.serializers = {GetParam()}, .on_error = on_error::raise, .context = {}}, here, families);
  }

  template <class T>
  std::expected<T, serialize_error> arrived(const T& value) {
    auto made = encoded(value);
    if (!made)
      return std::unexpected(made.error());
    return deserialize<T>(*made, {.deserializers = {GetParam()}, .context = {}}, there, families);
  }

  template <class T>
  std::string failure_of(const T& value) {
    const auto back = arrived(value);
    return back ? "" : back.error().message();
  }

  type_registry here;
  type_registry there;
  family_set families;
};

INSTANTIATE_TEST_SUITE_P(, polymorphic, testing::Values("typed", "msgpack", "json"),
                         [](const auto& of) { return of.param; });

drawing example_drawing() {
  drawing made;
  made.frame = std::make_unique<circle>(2);
  made.sun = std::make_shared<circle>(4);
  auto big = std::make_shared<hall>();
  big->name = "opera";
  big->color = "red";
  big->width = 2;
  big->length = 5;
  big->seats = {"a", "b"};
  made.shapes = {made.sun, big, nullptr, big};
  made.title = big;
  made.watched = big;
  return made;
}

TEST_P(polymorphic, objects_arrive_as_the_class_that_they_are) {
  there.add<circle>("circle");
  const auto back = arrived(example_drawing());
  ASSERT_TRUE(back.has_value()) << back.error().message();
  ASSERT_NE(dynamic_cast<circle*>(back->frame.get()), nullptr);
  EXPECT_EQ(back->frame->area(), 12);
  ASSERT_EQ(back->shapes.size(), 4U);
  const auto* big = dynamic_cast<hall*>(back->shapes[1].get());
  ASSERT_NE(big, nullptr);
  EXPECT_EQ(big->area(), 10);
  EXPECT_EQ(big->seats, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(big->color, "red");
}

TEST_P(polymorphic, one_object_stays_one_object_whatever_the_pointers_are_to) {
  there.add<circle>("circle");
  const auto back = arrived(example_drawing());
  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_EQ(back->shapes[0], back->sun);
  EXPECT_EQ(back->shapes[1], back->shapes[3]);
  EXPECT_EQ(back->shapes[2], nullptr);
  EXPECT_EQ(dynamic_cast<const hall*>(back->title.get()), dynamic_cast<const hall*>(back->shapes[1].get()));
  EXPECT_EQ(back->title->name, "opera");
  EXPECT_EQ(back->watched.lock(), back->shapes[1]);
}

TEST_P(polymorphic, what_bases_share_is_there_once) {
  here.add<studio>("studio");
  there.add<studio>("studio");
  drawing sent;
  auto home = std::make_shared<studio>();
  home->name = "attic";
  home->lamps = 1;
  home->stoves = 2;
  home->desks = 3;
  sent.title = home;
  const auto back = arrived(sent);
  ASSERT_TRUE(back.has_value()) << back.error().message();
  const auto* same = dynamic_cast<const studio*>(back->title.get());
  ASSERT_NE(same, nullptr);
  EXPECT_EQ(same->name, "attic");
  EXPECT_EQ(same->lamps + 10 * same->stoves + 100 * same->desks, 321);
}

TEST_P(polymorphic, circles_through_base_classes_are_kept) {
  rope sent;
  auto colored = std::make_shared<colored_knot>();
  colored->color = "blue";
  sent.first = std::make_shared<knot>();
  sent.first->next = colored;
  colored->next = sent.first;
  const auto back = arrived(sent);
  ASSERT_TRUE(back.has_value()) << back.error().message();
  const auto* second = dynamic_cast<colored_knot*>(back->first->next.get());
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(second->color, "blue");
  EXPECT_EQ(second->next, back->first);
  sent.first->next.reset();
  back->first->next.reset();
}

TEST_P(polymorphic, a_derived_class_may_be_of_another_version) {
  there.add<circle_2>("circle");
  auto sent = example_drawing();
  sent.sun.reset(); // It points to the first version.
  sent.shapes[0] = std::make_shared<circle>(4);
  sent.shapes.push_back(std::make_shared<circle>(5));
  const auto back = arrived(sent);
  ASSERT_TRUE(back.has_value()) << back.error().message();
  const auto* first = dynamic_cast<circle_2*>(back->shapes[0].get());
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->unit, "m");
  EXPECT_EQ(first->radius, 4);
  EXPECT_EQ(dynamic_cast<circle_2&>(*back->shapes[4]).radius, 5);
  EXPECT_EQ(dynamic_cast<hall&>(*back->shapes[1]).seats.size(), 2U);
  EXPECT_EQ(back->shapes[1], back->shapes[3]);
}

TEST_P(polymorphic, a_class_without_an_alias_is_refused_where_it_is_sent) {
  drawing sent;
  sent.frame = std::make_unique<circle_2>();
  EXPECT_EQ(failure_of(sent), "no family of [" + std::string(GetParam()) + "] can carry 'drawing': "
                                  + "drawing.frame: the pointer points to pointers::circle_2, which is not "
                                    "registered; add it with types.add<pointers::circle_2>(\"alias\")");
}

TEST_P(polymorphic, a_class_without_an_alias_is_refused_where_it_arrives) {
  EXPECT_EQ(failure_of(example_drawing()),
            std::string(GetParam())
                + ": drawing.frame: the pointer's object has the type 'circle', which is not registered "
                  "here; add it with types.add<T>(\"circle\")");
}

TEST_P(polymorphic, an_alias_of_a_class_that_does_not_derive_is_refused) {
  there.add<stranger>("circle");
  EXPECT_EQ(failure_of(example_drawing()), std::string(GetParam())
                                               + ": drawing.frame: the pointer's object has the type 'circle', "
                                                 "which does not derive from pointers::shape");
}

TEST_P(polymorphic, a_base_that_nobody_described_can_be_named) {
  here.add<adding>("adding");
  there.add<adding>("adding");
  job sent{std::make_unique<adding>(1, 2), std::make_shared<adding>(3, 4)};
  EXPECT_NE(failure_of(sent).find("types.add_base<Derived, Base>()"), std::string::npos);
  here.add_base<adding, task>();
  EXPECT_NE(failure_of(sent).find("does not derive from pointers::task"), std::string::npos);
  there.add_base<adding, task>().add_base<adding, task>();
  const auto back = arrived(sent);
  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_EQ(back->what->run(), 3);
  EXPECT_EQ(back->then->run(), 7);
}

TEST_P(polymorphic, one_codec_serves_all_that_derive) {
  for (auto* types : {&here, &there})
    types->add<animal>(
        "animal",
        [](const animal& value, const context&) -> std::expected<own_form, serialize_error> {
          return own_form{{}, {rich::frame_of(value.says())}};
        },
        [](std::span<const std::byte>, std::span<const frame> frames,
           const context&) -> std::expected<std::unique_ptr<animal>, serialize_error> {
          if (frames.size() != 1)
            return std::unexpected(serialize_error(serialize_errc::malformed, "says nothing"));
          if (rich::text_of(frames[0]) == "woof")
            return std::make_unique<dog>();
          return std::make_unique<cat>();
        });
  zoo sent;
  sent.animals.push_back(std::make_unique<dog>());
  sent.animals.push_back(std::make_unique<cat>());
  sent.star = std::make_shared<cat>();
  const auto back = arrived(sent);
  ASSERT_TRUE(back.has_value()) << back.error().message();
  ASSERT_EQ(back->animals.size(), 2U);
  EXPECT_EQ(back->animals[0]->says(), "woof");
  EXPECT_EQ(back->animals[1]->says(), "meow");
  EXPECT_EQ(back->star->says(), "meow");
}

TEST_P(polymorphic, a_class_with_memory_of_its_own_keeps_it) {
  for (auto* types : {&here, &there})
    types->add<pooled>("pooled").add_base<pooled, animal>();
  const auto taken = pooled::taken;
  {
    zoo sent;
    sent.animals.push_back(std::make_unique<pooled>());
    sent.star.reset(new pooled);
    const auto back = arrived(sent);
    ASSERT_TRUE(back.has_value()) << back.error().message();
    EXPECT_EQ(pooled::taken, taken + 4);
  }
  EXPECT_EQ(pooled::given_back, pooled::taken);
}

TEST_P(polymorphic, a_codec_that_makes_pointers_serves_no_values) {
  for (auto* types : {&here, &there}) {
    types->add<dog>(
        "dog", [](const dog&, const context&) -> std::expected<own_form, serialize_error> { return own_form{}; },
        [](std::span<const std::byte>, std::span<const frame>,
           const context&) -> std::expected<std::unique_ptr<dog>, serialize_error> { return std::make_unique<dog>(); });
    types->add_base<dog, animal>().add<std::vector<dog>>("dogs");
  }
  const auto refused = [&](const auto& value) {
    const auto made =
        serialize(value, {.serializers = {GetParam()}, .on_error = on_error::raise, .context = {}}, here, families);
    return made ? "sent" : made.error().message();
  };
  EXPECT_NE(refused(dog()).find("has a codec that makes pointers to it"), std::string::npos) << refused(dog());
  EXPECT_NE(refused(std::vector<dog>(1)).find("has a codec that makes pointers to it"), std::string::npos);
  EXPECT_FALSE(inspect_serializability<dog>(here, families).ok());
  EXPECT_FALSE(inspect_serializability<std::vector<dog>>(here, families).ok());
  zoo sent;
  sent.animals.push_back(std::make_unique<dog>());
  const auto back = arrived(sent);
  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_EQ(back->animals.at(0)->says(), "woof");
}

TEST_P(polymorphic, what_a_unique_ptr_could_not_end_is_refused_where_it_is_sent) {
  for (auto* types : {&here, &there})
    types->add<frail>("frail").add<frailer>("frailer").add<holder>("holder");
  const serialize_options options{.serializers = {GetParam()}, .on_error = on_error::raise, .context = {}};
  EXPECT_TRUE(serialize(holder{std::make_unique<frail>()}, options, here, families).has_value());
  frailer derived;
  holder of_derived;
  of_derived.it.reset(&derived);
  const auto made = serialize(of_derived, options, here, families);
  static_cast<void>(of_derived.it.release());
  ASSERT_FALSE(made.has_value());
  EXPECT_NE(made.error().message().find(".it: pointers::frail has no virtual destructor"), std::string::npos)
      << made.error().message();
}

TEST_P(polymorphic, a_registered_serializer_may_make_pointers_too) {
  for (auto* types : {&here, &there}) {
    types->add<animal>("animal");
    types->register_serializer<animal>([](const animal& value) { return value.says(); },
                                       [](const std::string& says) -> std::unique_ptr<animal> {
                                         if (says == "woof")
                                           return std::make_unique<dog>();
                                         return says == "meow" ? std::make_unique<cat>() : nullptr;
                                       });
  }
  zoo sent;
  sent.animals.push_back(std::make_unique<cat>());
  sent.star = std::make_shared<dog>();
  const auto back = arrived(sent);
  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_EQ(back->animals.at(0)->says(), "meow");
  EXPECT_EQ(back->star->says(), "woof");
  there.register_serializer<animal>([](const animal& value) { return value.says(); },
                                    [](const std::string&) -> std::unique_ptr<animal> { return nullptr; });
  EXPECT_NE(failure_of(sent).find("its codec made a null pointer"), std::string::npos);
}

TEST_P(polymorphic, survives_every_flipped_bit_and_every_cut) {
  there.add<circle>("circle");
  const auto sent = *encoded(example_drawing());
  const auto body = sent.frames[0].bytes();
  for (std::size_t bit = 0; bit < body.size() * 8; ++bit) {
    std::vector<std::byte> flipped(body.begin(), body.end());
    flipped[bit / 8] ^= std::byte{1} << (bit % 8);
    auto damaged = sent;
    damaged.frames[0] = frame::adopt(std::move(flipped));
    static_cast<void>(deserialize<drawing>(damaged, {.deserializers = {GetParam()}, .context = {}}, there, families));
  }
  for (std::size_t length = 0; length < body.size(); ++length) {
    auto cut = sent;
    cut.frames[0] = frame::copy_of(body.first(length));
    EXPECT_FALSE(deserialize<drawing>(cut, {.deserializers = {GetParam()}, .context = {}}, there, families));
  }
}

} // namespace
