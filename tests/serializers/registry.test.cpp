#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <troupe/serializers/record.hpp>
#include <troupe/serializers/typed/typed_family.hpp>

#include "rich.hpp"

namespace {

using namespace troupe;
using testing::ThrowsMessage;

TEST(type_registry, takes_no_empty_alias) {
  type_registry types;
  EXPECT_THAT([&] { types.add<rich::point>(""); },
              ThrowsMessage<registration_error>("rich::point is registered with an empty alias; give it an alias "
                                                "of 1 to 32,768 bytes"));
  EXPECT_EQ(types.find<rich::point>(), nullptr);
}

TEST(family_set, has_names_that_no_family_may_have) {
  class taken final : public family {
  public:
    explicit taken(std::string name) : name_(std::move(name)) {}
    [[nodiscard]] std::string_view name() const override { return name_; }
    [[nodiscard]] std::string unsupported(const type_entry&) const override { return {}; }
    [[nodiscard]] std::expected<void, serialize_error> encode(const type_entry&, const void*, const context&,
                                                              encode_output&) const override {
      return {};
    }
    [[nodiscard]] std::expected<void, serialize_error> decode(const type_entry&, void*, const header_fields&,
                                                              std::span<const frame>, const context&) const override {
      return {};
    }

  private:
    std::string name_;
  };
  for (const auto* name : {"error", "elements"}) {
    family_set families;
    EXPECT_THAT([&] { families.add(std::make_unique<taken>(name)); },
                ThrowsMessage<registration_error>("the family name '" + std::string(name)
                                                  + "' is reserved; choose another name"));
    EXPECT_EQ(families.find(name), nullptr);
  }
}

TEST(type_registry, knows_the_plain_types_from_the_start) {
  const type_registry types;
  EXPECT_EQ(types.find<std::int32_t>(), types.find("i32"));
  EXPECT_EQ(types.find<std::vector<double>>(), types.find("list<f64>"));
  EXPECT_EQ(types.find<std::string>()->alias(), "str");
  EXPECT_EQ(types.find("no such"), nullptr);
  EXPECT_EQ(types.find<rich::point>(), nullptr);
}

TEST(type_registry, keeps_entries_at_one_address) {
  type_registry types;
  types.add<rich::point>("point");
  const auto* before = types.find("point");
  types.add<rich::leaf>("leaf").add<rich::point>("point");
  EXPECT_EQ(types.find("point"), before);
}

TEST(type_registry, refuses_two_types_of_one_alias) {
  type_registry types;
  types.add<rich::point>("thing");
  EXPECT_THAT([&] { types.add<rich::leaf>("thing"); },
              ThrowsMessage<registration_error>("alias 'thing' is registered for rich::point and again for "
                                                "rich::leaf; give each type an alias of its own"));
  EXPECT_EQ(types.find("thing")->type(), typeid(rich::point));
  EXPECT_EQ(types.find<rich::leaf>(), nullptr);
}

TEST(type_registry, refuses_two_aliases_of_one_type) {
  type_registry types;
  types.add<rich::point>("point");
  EXPECT_THAT([&] { types.add<rich::point>("spot"); },
              ThrowsMessage<registration_error>("rich::point is registered as 'point' and again as 'spot'; register "
                                                "it under one alias"));
  EXPECT_EQ(types.find("spot"), nullptr);
}

TEST(type_registry, refuses_a_type_that_is_added_with_another_sort_of_codec) {
  const auto to = [](const rich::point&, const context&) -> std::expected<own_form, serialize_error> {
    return own_form{};
  };
  const auto from = [](std::span<const std::byte>, std::span<const frame>,
                       const context&) -> std::expected<rich::point, serialize_error> { return rich::point{}; };
  type_registry types;
  types.add<rich::point>("point", to, from).add<rich::point>("point", to, from);
  EXPECT_THAT([&] { types.add<rich::point>("point"); },
              ThrowsMessage<registration_error>(
                  "'point' is registered with a codec of its own for 'typed', and again without a codec of its own; "
                  "register it the same way each time"));
  EXPECT_THAT([&] { types.add<rich::point>("point", to, from, "msgpack"); },
              ThrowsMessage<registration_error>("'point' is registered with a codec of its own for 'typed', and again "
                                                "with a codec of its own for 'msgpack'; register it the same way each "
                                                "time"));
  types.register_generic<rich::leaf>("leaf");
  EXPECT_THAT([&] { types.add<rich::leaf>("leaf"); },
              ThrowsMessage<registration_error>(
                  "'leaf' is registered with a codec of its own for 'typed', and again without a codec of its own; "
                  "register it the same way each time"));
}

TEST(type_entry, makes_copies_and_ends_values) {
  type_registry types;
  rich::add_to(types);
  types.add<rich::leaf>("leaf");
  const auto& entry = *types.find("leaf");
  alignas(rich::leaf) std::byte memory[sizeof(rich::leaf)];
  const rich::leaf source{"a name that does not fit into a short string"};
  entry.life().copy(memory, &source);
  EXPECT_EQ(*reinterpret_cast<rich::leaf*>(memory), source);
  entry.life().destroy(memory);
  EXPECT_EQ(types.find("tree")->life().copy, nullptr) << "a tree holds a unique_ptr";
}

TEST(type_entry, keeps_what_users_attach_by_type) {
  type_registry types;
  const auto& entry = *types.find("i32");
  EXPECT_EQ(entry.attachment<std::string>(), nullptr);
  entry.attach(std::make_shared<std::string>("seen"));
  EXPECT_EQ(*entry.attachment<std::string>(), "seen");
}

TEST(type_entry, shows_values_as_text) {
  type_registry types;
  rich::add_to(types);
  types.add<rich::circle>("circle");
  rich::circle round;
  round.label = "c";
  round.radius = 1.5;
  EXPECT_EQ(to_text(*types.find("circle"), &round), "{label: \"c\", radius: 1.5}");
  const auto everything = rich::full();
  EXPECT_LT(to_text(*types.find("everything"), &everything).size(), 2500U);
}

TEST(type_entry, shows_no_control_characters) {
  const type_registry types;
  const std::vector<std::string> texts{"\x1b]0;title\x07", "a\nb", "\xff", "caf\xc3\xa9"};
  EXPECT_EQ(to_text(*types.find("list<str>"), &texts), "[\"?]0;title?\", \"a?b\", \"?\", \"caf\xc3\xa9\"]");
}

TEST(type_entry, shows_values_in_bounded_text_whatever_their_shape) {
  const type_registry types;
  for (const std::size_t count : {1'000, 1'000'000}) {
    const record lists = record::list(count, record::list());
    EXPECT_LT(to_text(lists).size(), 1'100U);
    const record maps = record::list(count, record::map());
    EXPECT_LT(to_text(maps).size(), 1'100U);
  }
  const std::vector<std::string> texts{std::string(1'000'000, '\n')};
  EXPECT_LT(to_text(*types.find("list<str>"), &texts).size(), 1'100U);
}

struct ground {
  virtual ~ground() = default;
  int depth = 1;
};
struct beside_ground {
  virtual ~beside_ground() = default;
  int width = 2;
};
struct first_floor : beside_ground, virtual ground {};
struct beside_floor {
  virtual ~beside_floor() = default;
  double height = 3;
};
struct roof : beside_floor, first_floor {};

// Goal: each step starts where the previous step has ended.
// Method: no base lies at the beginning of its class.
TEST(type_registry, finds_a_base_by_several_steps) {
  type_registry types;
  types.add_base<first_floor, ground>().add_base<roof, first_floor>();
  roof whole;
  EXPECT_EQ(types.as_base(typeid(roof), &whole, typeid(ground)), static_cast<ground*>(&whole));
  EXPECT_TRUE(types.derives(typeid(roof), typeid(ground)));
  EXPECT_FALSE(types.derives(typeid(ground), typeid(roof)));
  EXPECT_EQ(types.as_base(typeid(ground), &whole, typeid(roof)), nullptr);
}

// Goal: if a program registers an alias that is too long, it gets an error at once, not when receivers refuse a
// payload.
TEST(type_registry, refuses_an_alias_that_no_header_has_room_for) {
  type_registry types;
  types.add<rich::point>(std::string(32'768, 'p'));
  EXPECT_THAT(
      [&] { types.add<rich::leaf>(std::string(32'769, 'l')); },
      ThrowsMessage<registration_error>(
          "rich::leaf has an alias of 32,769 bytes, limit 32,768 (half of the default of limits::header_bytes)"));
}

} // namespace
