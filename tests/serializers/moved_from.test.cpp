// A moved-from value is empty. It can be sent, printed, assigned to and destroyed like any other value.
#include <troupe/serializers/any_value.hpp>
#include <troupe/serializers/payload_bytes.hpp>
#include <troupe/serializers/record.hpp>
#include <troupe/serializers/serialized.hpp>

#include "every_family.hpp"

namespace {

using namespace conformance;

struct luggage {
  writable_array<double> filling;
  array<double> numbers;
  frame bytes;
  std::vector<frame> all;
  record any;
  serialized kept;
};
TROUPE_DESCRIBE(luggage, filling, numbers, bytes, all, any, kept)

luggage packed() {
  luggage made;
  made.filling = writable_array<double>(std::vector<std::size_t>{2, 3});
  made.numbers = array<double>(std::vector<double>(1000, 1.5));
  made.bytes = frame::copy_of(std::vector<std::byte>(10'000, std::byte{7}));
  made.all = {made.bytes, made.bytes};
  made.any = frame::copy_of(std::vector<std::byte>(10'000, std::byte{8}));
  made.kept = to_serialize(std::string("kept"));
  return made;
}

class moved_from : public every_family {
protected:
  moved_from() { add_cereal<luggage>(types, "luggage"); }
};

INSTANTIATE_TEST_SUITE_P(, moved_from, testing::ValuesIn(all_families), name_of_row);

TEST_P(moved_from, values_travel_as_empty_ones) {
  auto value = packed();
  { const auto gone = std::move(value); }
  const auto back = decoded<luggage>(encoded(value));
  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_EQ(back->filling, writable_array<double>());
  EXPECT_EQ(back->numbers, array<double>());
  EXPECT_EQ(back->bytes.size_bytes(), 0U);
  EXPECT_TRUE(back->all.empty());
  EXPECT_TRUE(back->kept.empty());
  EXPECT_NE(to_text(*types.find<luggage>(), &value).find("filling: "), std::string::npos);
}

TEST_P(moved_from, values_can_be_assigned_to) {
  auto value = packed();
  { const auto gone = std::move(value); }
  value = packed();
  const auto back = decoded<luggage>(encoded(value));
  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_EQ(back->filling.shape(), (std::vector<std::size_t>{2, 3}));
  EXPECT_EQ(back->bytes.size_bytes(), 10'000U);
}

TEST_P(moved_from, payloads_of_which_nobody_took_anything_are_none) {
  auto sent = encoded(packed());
  { const auto gone = std::move(sent); }
  EXPECT_EQ(sent.size_bytes(), 0U);
  EXPECT_EQ(code_of<luggage>(sent), serialize_errc::malformed);
  EXPECT_FALSE(to_bytes(sent).has_value());
}

TEST_P(moved_from, serialized_values_are_empty) {
  serialized kept(encoded(packed()));
  { const auto gone = std::move(kept); }
  EXPECT_TRUE(kept.empty());
  EXPECT_FALSE(kept.is_encoded());
  EXPECT_FALSE(kept.header().has_value());
}

TEST(moved_from_alone, any_value_has_no_entry) {
  type_registry types;
  any_value value(*types.find<std::string>());
  { const any_value gone = std::move(value); }
  EXPECT_EQ(value.entry(), nullptr);
  EXPECT_EQ(value.data(), nullptr);
  value = any_value(*types.find<std::string>());
  EXPECT_NE(value.get<std::string>(), nullptr);
}

} // namespace
