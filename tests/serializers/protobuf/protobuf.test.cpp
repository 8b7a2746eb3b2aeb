// The family "protobuf": the promises of every family, and its own promises.
#include <cmath>

#include <google/protobuf/arena.h>
#include <google/protobuf/util/message_differencer.h>

#include <troupe/serializers/inspect.hpp>
#include <troupe/serializers/protobuf/protobuf_type.hpp>

#include "../own_types_family.hpp"
#include "form.pb.h"
#include "shop.pb.h"

namespace shop = troupe::tests::shop;
namespace forms = troupe::tests::forms;

namespace {

using namespace troupe;

// The library logs a line for each text that is not UTF-8.
[[maybe_unused]] const auto is_silent = google::protobuf::SetLogHandler(nullptr);

using google::protobuf::util::MessageDifferencer;

shop::item item_of(std::string name, double price) {
  shop::item made;
  made.set_name(std::move(name));
  made.set_price(price);
  return made;
}

shop::order full_order() {
  shop::order made;
  made.set_number(UINT64_MAX);
  made.set_customer("J\xc3\xb6rg");
  *made.add_items() = item_of("lamp", 19.5);
  made.add_items()->set_image(std::string("\0\xff\x80", 3));
  for (const auto count : {1, -1, 300, INT32_MAX})
    made.add_counts(count);
  (*made.mutable_gifts())["bow"] = item_of("red bow", 1);
  (*made.mutable_labels())[-7] = "minus seven";
  *made.mutable_barter() = item_of("hen", -0.0);
  made.set_discount(0); // Present, though zero.
  made.set_balance(INT64_MIN);
  made.set_state(shop::PAID);
  made.add_history(shop::OPEN);
  made.add_history(static_cast<shop::state>(9)); // From a later version.
  made.add_marks();
  made.add_notes("");
  made.add_notes("fragile");
  made.add_codes(UINT64_MAX);
  return made;
}

struct protobuf_subject {
  using value = shop::order;
  using wide = shop::roomy;
  using nested = shop::tree;
  static constexpr bool tells_cuts = false;
  static constexpr std::size_t empty_bytes = 0;

  static std::unique_ptr<family> make() { return std::make_unique<protobuf_family>(); }
  static void add(type_registry& types) {
    add_protobuf<shop::order>(types, "shop.order");
    add_protobuf<shop::roomy>(types, "shop.roomy");
    add_protobuf<shop::tree>(types, "shop.tree");
  }
  static value full() { return full_order(); }
  static bool equal(const value& left, const value& right) { return MessageDifferencer::Equals(left, right); }
  static wide wide_of(std::size_t count) {
    wide made;
    for (std::size_t i = 0; i < count; ++i)
      made.add_rooms();
    return made;
  }
  static nested deep(std::size_t depth) {
    nested made;
    auto* last = &made;
    for (std::size_t i = 0; i < depth; ++i)
      last = last->add_branches();
    last->set_leaf("deepest");
    return made;
  }
  static value with_text(std::size_t size_bytes) {
    value made;
    made.set_customer(std::string(size_bytes, 'x'));
    return made;
  }
};

/// A described type with messages as members.
struct delivery {
  std::string street;
  shop::order what;
  std::vector<shop::item> extras;
  std::optional<shop::item> maybe;
};
TROUPE_DESCRIBE(delivery, street, what, extras, maybe)

class protobuf_test : public testing::Test {
protected:
  protobuf_test() {
    families.add(std::make_unique<protobuf_family>());
    protobuf_subject::add(types);
    add_protobuf<shop::item>(types, "shop.item");
    add_protobuf<forms::form>(types, "forms.form");
    types.add<delivery>("delivery");
  }

  template <class T>
  std::expected<payload, serialize_error> encoded(const T& value, std::vector<std::string> by = {"protobuf"}) {
    return serialize(value, {.serializers = std::move(by), .on_error = on_error::raise, .context = ctx}, types,
                     families);
  }
  template <class T>
  std::expected<T, serialize_error> decoded(const payload& from, std::vector<std::string> by = {"protobuf"}) {
    return deserialize<T>(from, {.deserializers = std::move(by), .context = ctx}, types, families);
  }
  template <class T>
  payload with_body(const std::string& body) {
    auto made = *encoded(T());
    made.frames = {frame::copy_of(std::as_bytes(std::span(body)))};
    return made;
  }
  template <class T>
  std::string error_of(const std::string& body) {
    const auto arrived = decoded<T>(with_body<T>(body));
    return arrived ? "none" : arrived.error().message();
  }
  static std::string text_of(const frame& of) {
    return {reinterpret_cast<const char*>(of.bytes().data()), of.size_bytes()};
  }
  static std::string family_of(const payload& of) { return std::string(parse_header(of.header.bytes())->family); }

  type_registry types;
  family_set families;
  context ctx;
};

static_assert(serializable<shop::order, protobuf_family>);
static_assert(!serializable<delivery, protobuf_family>);
static_assert(!serializable<std::string, protobuf_family>);
static_assert(!serializable<google::protobuf::Message, protobuf_family>);

// -- the encoded form

TEST_F(protobuf_test, has_golden_bytes) {
  const auto sent = encoded(item_of("hall", 1.5));
  ASSERT_TRUE(sent) << sent.error().message();
  ASSERT_EQ(sent->frames.size(), 1U);
  EXPECT_EQ(text_of(sent->frames[0]), std::string("\x0a\x04hall"              // field 1, a text
                                                  "\x11\0\0\0\0\0\0\xf8\x3f", // field 2, 1.5
                                                  15));
  EXPECT_TRUE(parse_header(sent->header.bytes())->schema.empty());
}

TEST_F(protobuf_test, writes_what_protobuf_reads_and_reads_what_it_writes) {
  const auto sent = encoded(full_order());
  ASSERT_TRUE(sent);
  shop::order arrived;
  ASSERT_TRUE(arrived.ParseFromString(text_of(sent->frames[0])));
  EXPECT_TRUE(MessageDifferencer::Equals(arrived, full_order()));
  const auto back = decoded<shop::order>(with_body<shop::order>(full_order().SerializeAsString()));
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_TRUE(MessageDifferencer::Equals(*back, full_order()));
}

TEST_F(protobuf_test, keeps_fields_that_the_receiver_does_not_know) {
  type_registry later;
  add_protobuf<shop::later_order>(later, "shop.order");
  shop::later_order sent;
  sent.set_number(5);
  sent.set_courier("Anna");
  const auto made = serialize(sent, {.serializers = {"protobuf"}}, later, families);
  ASSERT_TRUE(made);
  const auto here = decoded<shop::order>(*made);
  ASSERT_TRUE(here) << here.error().message();
  EXPECT_EQ(here->number(), 5U);
  const auto again = deserialize<shop::later_order>(*encoded(*here), {.deserializers = {"protobuf"}}, later, families);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->courier(), "Anna");
}

TEST_F(protobuf_test, carries_groups_and_extensions) {
  forms::form sent;
  sent.set_name("a");
  sent.mutable_part()->set_number(4);
  sent.add_kinds(forms::form::FANCY);
  sent.MutableExtension(forms::stamped)->set_number(9);
  sent.AddExtension(forms::inner)->set_name("b");
  const auto back = decoded<forms::form>(*encoded(sent));
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_TRUE(MessageDifferencer::Equals(*back, sent));
  EXPECT_EQ(back->GetExtension(forms::stamped).number(), 9);
}

TEST_F(protobuf_test, carries_messages_that_lie_in_an_arena) {
  google::protobuf::Arena arena;
  auto* sent = google::protobuf::Arena::CreateMessage<shop::order>(&arena);
  sent->CopyFrom(full_order());
  const auto back = decoded<shop::order>(*encoded(*sent));
  ASSERT_TRUE(back);
  EXPECT_TRUE(MessageDifferencer::Equals(*back, *sent));
}

// -- choosing the family

TEST_F(protobuf_test, is_in_no_set_from_the_start_and_needs_no_trust) {
  EXPECT_EQ(family_set().find("protobuf"), nullptr);
  EXPECT_FALSE(families.find("protobuf")->needs_trust());
}

TEST_F(protobuf_test, messages_go_by_the_first_family_that_is_listed) {
  EXPECT_EQ(family_of(*encoded(full_order(), {"protobuf", "typed"})), "protobuf");
  for (const auto* family : {"typed", "msgpack", "json"}) {
    const auto sent = encoded(full_order(), {family, "protobuf"});
    ASSERT_TRUE(sent) << sent.error().message();
    EXPECT_EQ(family_of(*sent), family);
    const auto back = decoded<shop::order>(*sent, {family});
    ASSERT_TRUE(back) << back.error().message();
    EXPECT_TRUE(MessageDifferencer::Equals(*back, full_order()));
  }
}

TEST_F(protobuf_test, described_types_with_messages_in_them_go_by_the_other_families) {
  const delivery sent{"Main Street", full_order(), {item_of("a", 1), item_of("b", 2)}, item_of("c", 3)};
  for (const auto* family : {"typed", "msgpack", "json"}) {
    const auto made = encoded(sent, {"protobuf", family});
    ASSERT_TRUE(made) << made.error().message();
    EXPECT_EQ(family_of(*made), family);
    const auto back = decoded<delivery>(*made, {family});
    ASSERT_TRUE(back) << back.error().message();
    EXPECT_TRUE(MessageDifferencer::Equals(back->what, sent.what));
    EXPECT_EQ(back->extras.at(1).name(), "b");
    EXPECT_EQ(back->maybe->price(), 3);
  }
}

TEST_F(protobuf_test, messages_inside_others_need_to_be_registered_and_the_error_names_the_member) {
  type_registry other;
  other.add<delivery>("delivery");
  const auto refused = serialize(delivery{}, {.serializers = {"typed"}, .on_error = on_error::raise}, other, families);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message().find("can carry 'delivery': .what: troupe::tests::shop::order has neither"),
            std::string::npos)
      << refused.error().message();
}

TEST_F(protobuf_test, inspection_says_what_carries_messages) {
  const auto alone = inspect_serializability<shop::order>(types, families);
  EXPECT_TRUE(alone.carried_by("protobuf"));
  EXPECT_TRUE(alone.carried_by("typed"));
  const auto inside = inspect_serializability<delivery>(types, families);
  EXPECT_TRUE(inside.carried_by("typed"));
  EXPECT_FALSE(inside.carried_by("protobuf"));
  const auto unknown = inspect_serializability<shop::later_order>(types, families);
  EXPECT_FALSE(unknown.carried_by("protobuf"));
  EXPECT_TRUE(inspect_serializability(full_order(), types, families).carried_by("protobuf"));
}

TEST_F(protobuf_test, a_clash_of_aliases_is_refused) {
  EXPECT_THROW(add_protobuf<shop::later_order>(types, "shop.order"), registration_error);
  EXPECT_EQ(families.find("protobuf")->unsupported(*types.find("shop.order")), "");
}

TEST_F(protobuf_test, another_type_of_that_alias_is_what_the_alias_says_here) {
  const auto sent = encoded(item_of("a", 1));
  const auto refused = decoded<shop::order>(*sent);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), serialize_errc::type_mismatch);
}

// -- errors

TEST_F(protobuf_test, missing_required_fields_are_refused_by_both_ends) {
  forms::form sent;
  sent.AddExtension(forms::inner);
  const auto refused = encoded(sent);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), serialize_errc::codec_failed);
  EXPECT_EQ(refused.error().message(), "protobuf: forms.form: required fields are missing: name, "
                                       "(troupe.tests.forms.inner)[0].name");
  sent.set_name("a");
  sent.clear_name();
  forms::form good;
  good.set_name("a");
  auto made = *encoded(good);
  made.frames = {frame()};
  const auto arrived = decoded<forms::form>(made);
  ASSERT_FALSE(arrived);
  EXPECT_EQ(arrived.error().code(), serialize_errc::malformed);
  EXPECT_EQ(arrived.error().message(), "protobuf: forms.form: required fields are missing: name");
}

TEST_F(protobuf_test, missing_required_fields_inside_others_are_refused) {
  const auto refused = encoded(forms::form(), {"typed"});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message().find("required fields are missing: name"), std::string::npos)
      << refused.error().message();
}

TEST_F(protobuf_test, messages_of_2_gib_are_refused_by_the_sender) {
  shop::item huge;
  std::string image;
  image.resize_and_overwrite(std::size_t{1} << 31, [](char*, std::size_t size) { return size; }); // Never touched.
  huge.set_image(std::move(image));
  const auto refused = encoded(huge);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), serialize_errc::limit_exceeded);
  EXPECT_EQ(refused.error().message(),
            "protobuf: shop.item: a message of 2,147,483,654 bytes; those of protobuf have less than 2 GiB");
}

TEST_F(protobuf_test, broken_bytes_are_refused_with_their_place) {
  using namespace std::string_literals;
  const auto item = "\x0a\x04hall"s;
  EXPECT_EQ(error_of<shop::item>(item), "none");
  EXPECT_EQ(error_of<shop::item>(item + "\0"s), "protobuf: shop.item: a field without a number, or one that is cut");
  EXPECT_EQ(error_of<shop::item>("\x0a\x05hall"s), "protobuf: shop.item.name: the bytes end within a field");
  EXPECT_EQ(
      error_of<shop::item>("\x0a\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01hall"s), // Claims 2^63 bytes.
      "protobuf: shop.item.name: a field that says it has 9,223,372,036,854,775,808 bytes: the message is damaged, "
      "or is no message");
  EXPECT_EQ(error_of<shop::order>("\x1a\x06\x0a\x05hall"s),
            "protobuf: shop.order.items.name: the bytes end within a field");
  EXPECT_EQ(error_of<shop::item>("\x0c"s), "protobuf: shop.item: a group ends that did not begin");
  EXPECT_EQ(error_of<shop::item>("\x3b"s), "protobuf: shop.item.7: a group does not end");
  EXPECT_EQ(error_of<shop::item>("\x0f"s), "protobuf: shop.item.name: a field of the unknown wire type 7");
  EXPECT_EQ(error_of<shop::item>("\x08\xff\xff"s), "protobuf: shop.item.name: the bytes end within a field");
}

TEST_F(protobuf_test, texts_that_are_not_utf8_are_refused_by_the_receiver) {
  EXPECT_EQ(
      error_of<shop::item>("\x0a\x01\xff"),
      "protobuf: shop.item: protobuf refuses the bytes: a string in them is not UTF-8; send it in a field of type "
      "bytes");
}

TEST_F(protobuf_test, a_text_that_says_it_is_long_takes_nothing_before_it_is_found_out) {
  using namespace std::string_literals;
  const auto cut = with_body<shop::item>("\x0a\x80\x80\x80\x20short"s); // Claims 64 MiB.
  for (const std::size_t depth : {256, 50}) {
    ctx.limits.depth = depth;
    const auto before = allocated_bytes.load();
    EXPECT_FALSE(decoded<shop::item>(cut));
    EXPECT_LT(allocated_bytes.load() - before, 16'384U);
  }
}

TEST_F(protobuf_test, messages_nest_deeper_than_by_protobufs_own_limit_where_the_limits_say_so) {
  for (const std::size_t depth : {100, 101, 200, 256}) {
    const auto back = decoded<shop::tree>(*encoded(protobuf_subject::deep(depth)));
    EXPECT_TRUE(back) << depth << back.error().message();
  }
}

TEST_F(protobuf_test, unknown_groups_nest_no_deeper_than_the_limit) {
  const std::size_t depth = 100'000;
  const auto body = std::string(depth, '\x3b') + std::string(depth, '\x3c'); // Group 7, nested.
  EXPECT_NE(error_of<shop::item>(body).find("nested deeper than 256 (limits::depth)"), std::string::npos);
}

// Goal: for any message, the parser allocates no more memory than was charged for the message.
// Method: bodies repeat one sort of field many times. A budget of half of the memory that they took is refused.
TEST_F(protobuf_test, no_sort_of_field_takes_more_than_it_is_charged) {
  const auto repeated = [](const std::string& field, std::size_t bytes) {
    std::string body;
    while (body.size() < bytes)
      body += field;
    return body;
  };
  using namespace std::string_literals;
  const auto expect_charged = [&]<class T>(const T&, const std::string& field) {
    const auto body = repeated(field, 200'000);
    const auto sent = with_body<T>(body);
    detail::protobuf_costs costs(*T::descriptor());
    const auto before = allocated_bytes.load();
    ctx.limits = {.memory_ratio = 100'000};
    ASSERT_TRUE(decoded<T>(sent)) << decoded<T>(sent).error().message();
    const auto taken = allocated_bytes.load() - before;
    EXPECT_LE(taken, costs.memory_bytes_most(body.size())) << testing::PrintToString(field);
    ctx.limits = {.memory_bytes = taken / 2, .memory_ratio = 100'000}; // The check must find that it does not fit.
    if (taken > body.size()) {
      const auto refused = decoded<T>(sent);
      EXPECT_FALSE(refused) << testing::PrintToString(field);
    }
  };
  expect_charged(shop::order(), "\x1a\x00"s);         // an empty item
  expect_charged(shop::order(), "\x1a\x02\x0a\x00"s); // with an empty name
  expect_charged(shop::order(), "\x22\x01\x01"s);     // a packed number
  expect_charged(shop::order(), "\x20\x01"s);         // a number that could have been packed
  expect_charged(shop::order(), "\x62\x00"s);         // an empty text
  expect_charged(shop::order(), "\x5a\x00"s);         // a message without fields
  expect_charged(shop::order(), "\x5a\x02\x08\x01"s); // with a field that the message does not have
  expect_charged(shop::order(), "\x78\x09"s);         // an enum value of a later version
  expect_charged(shop::order(), "\xa0\x06\x01"s);     // an unknown number
  expect_charged(shop::order(), "\xa2\x06\x00"s);     // an unknown text
  expect_charged(shop::order(), "\xa3\x06\xa4\x06"s); // an unknown group
  expect_charged(shop::roomy(), "\x5a\x00"s);         // large when decoded
  expect_charged(shop::roomy(), "\x5a\x04\x08\x01\x10\x01"s);
  std::string gifts;
  for (int i = 0; i < 20'000; ++i)
    gifts += "\x2a\x08\x0a\x06" + std::to_string(100'000 + i);
  expect_charged(shop::order(), gifts);
  std::string labels;
  for (int i = 0; i < 50'000; ++i)
    labels += "\x72\x04\x08"s + static_cast<char>(0x80 | (i & 127)) + static_cast<char>(0x80 | (i >> 7 & 127))
              + static_cast<char>(i >> 14 & 127);
  expect_charged(shop::order(), labels);
}

TEST_F(protobuf_test, closed_enums_and_extensions_take_no_more_than_they_are_charged) {
  using namespace std::string_literals;
  const auto name = "\x0a\x01x"s;
  const auto packed = std::string(16'000, '\x07'); // No values of the enum: kept as unknown fields.
  const auto body = name + "\x22\x80\x7d"s + packed;
  detail::protobuf_costs costs(*forms::form::descriptor());
  ctx.limits.memory_ratio = 100'000;
  forms::form named;
  named.set_name("x");
  auto sent = *encoded(named);
  for (const auto& each : {body, name + [] {
                             std::string inner;
                             for (int i = 0; i < 20'000; ++i)
                               inner += "\xaa\x06\x03\x0a\x01y"s;
                             return inner;
                           }()}) {
    sent.frames = {frame::copy_of(std::as_bytes(std::span(each)))};
    const auto before = allocated_bytes.load();
    const auto arrived = decoded<forms::form>(sent);
    ASSERT_TRUE(arrived) << arrived.error().message();
    EXPECT_LE(allocated_bytes.load() - before, costs.memory_bytes_most(each.size()));
  }
}

} // namespace

namespace conformance {

INSTANTIATE_TYPED_TEST_SUITE_P(protobuf, own_types_family, protobuf_subject);

} // namespace conformance
