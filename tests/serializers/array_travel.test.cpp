// Arrays sent with every family: shape, order in memory, repeated elements, slices, and the owners of the bytes.
#include <troupe/serializers/record.hpp>

#include "counted_array.hpp"
#include "every_family.hpp"

namespace travel {

using namespace troupe;

struct two_arrays {
  array<double> left;
  array<double> right;
};
TROUPE_DESCRIBE(two_arrays, left, right)

struct two_arrays_reordered {
  array<float> right;
  std::string note;
  array<double> left;
};
TROUPE_DESCRIBE(two_arrays_reordered, right, note, left)

struct filled {
  writable_array<float> values;
};
TROUPE_DESCRIBE(filled, values)

/// Bytes that peers of the same store could read.
struct shared_bytes final : frame_owner {
  [[nodiscard]] bool is_shared() const override { return true; }
};

} // namespace travel

namespace {

using namespace conformance;
using namespace travel;

class arrays : public every_family {
protected:
  arrays() {
    add_cereal<two_arrays>(types, "two");
    add_cereal<filled>(types, "filled");
  }

  template <class T>
  array<T> sent(const array<T>& value) {
    auto back = decoded<array<T>>(encoded(value));
    EXPECT_TRUE(back.has_value()) << (back ? "" : back.error().message());
    return back.value_or(array<T>());
  }

  /// Expects that `value` arrives equal and with the same strides. Requires: the strides follow a memory order or
  /// repeat elements.
  template <class T>
  void expect_same(const array<T>& value) {
    const auto back = sent(value);
    EXPECT_EQ(back, value);
    EXPECT_EQ(back.shape(), value.shape());
    for (std::size_t i = 0; i < value.rank() && !value.empty(); ++i)
      EXPECT_TRUE(value.shape()[i] == 1 || back.strides()[i] == value.strides()[i]) << "dimension " << i;
  }
};

INSTANTIATE_TEST_SUITE_P(, arrays, testing::ValuesIn(all_families), name_of_row);

TEST_P(arrays, keep_shape_and_order) {
  for (const std::size_t rows : {3, 300}) { // In the body; as a frame.
    expect_same(counted<double>({rows, 4, 5}));
    expect_same(counted<double>({rows, 4, 5}, memory_order::fortran));
    expect_same(counted<std::uint8_t>({rows, 4, 5}));
    expect_same(counted<std::uint8_t>({rows, 4, 5}, memory_order::fortran));
    expect_same(counted<std::int16_t>({rows, 1, 7}, memory_order::fortran));
    expect_same(counted<float>({rows}));
  }
  expect_same(array<double>::copy_of(std::vector{2.5}, {}));
  expect_same(array<std::uint8_t>::copy_of(std::vector<std::uint8_t>{7}, {}));
}

TEST_P(arrays, may_be_empty_in_any_dimension) {
  expect_same(array<double>());
  expect_same(counted<double>({4, 0, 3}));
  expect_same(counted<std::uint8_t>({0, 1'000'000'000'000, 3}));
}

TEST_P(arrays, send_repeated_elements_once) {
  const auto row = counted<double>({1, 500});
  const auto wide = *row.broadcast_to({1'000, 500});
  const auto made = encoded(wide);
  EXPECT_LT(made.size_bytes(), 500U * 40) << "one row, not a thousand";
  const auto back = decoded<array<double>>(made);
  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_EQ(back->strides(), (std::vector<std::ptrdiff_t>{0, 1}));
  EXPECT_EQ(*back, wide);
  EXPECT_LT(back->bytes().size_bytes(), 500U * 9);
  expect_same(*array<float>::filled(1.5F, {3, 1, 4}));
  expect_same(*counted<std::uint8_t>({3, 1}).broadcast_to({2, 3, 7}));
  const auto columns = *counted<double>({5, 1}).broadcast_to({5, 3});
  EXPECT_EQ(sent(columns), columns);
}

TEST_P(arrays, send_slices_without_what_lies_between) {
  const auto all = counted<double>({100, 100});
  const auto part = all.slice(0, 10, 20).slice(1, 90, 0, -9);
  const auto made = encoded(part);
  EXPECT_LT(made.size_bytes(), part.size() * 40);
  const auto back = decoded<array<double>>(made);
  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_EQ(*back, part);
  EXPECT_TRUE(back->is_contiguous());
  EXPECT_EQ(sent(all.transposed()), all.transposed());
  EXPECT_EQ(sent(all.slice(0, 5, 50)), all.slice(0, 5, 50));
}

TEST_P(arrays, read_in_place_keep_their_own_bytes_and_no_others) {
  const two_arrays value{counted<double>({100, 100}), counted<double>({200, 100}, memory_order::fortran)};
  const auto back = decoded<two_arrays>(encoded(value));
  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_EQ(back->left, value.left);
  EXPECT_EQ(back->right, value.right);
  EXPECT_NE(back->left.bytes().owner(), back->right.bytes().owner());
}

TEST_P(arrays, of_another_version_keep_order_and_repeats) {
  if (!GetParam().names_fields)
    GTEST_SKIP() << "equal versions only";
  type_registry newer;
  newer.add<two_arrays_reordered>("two");
  const two_arrays value{*counted<double>({1, 7}).broadcast_to({3, 7}), counted<double>({6, 5}, memory_order::fortran)};
  const auto back = deserialize<two_arrays_reordered>(
      encoded(value), {.deserializers = {GetParam().name}, .context = {}}, newer, families);
  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_EQ(back->left, value.left);
  EXPECT_EQ(back->left.strides(), value.left.strides());
  EXPECT_EQ(back->right.to_vector(), (std::vector<float>(value.right.begin(), value.right.end())));
  EXPECT_TRUE(back->right.is_contiguous(memory_order::fortran));
}

TEST_P(arrays, that_can_be_written_arrive_so) {
  filled value{writable_array<float>(std::vector<std::size_t>{40, 50})};
  value.values[39, 49] = 2.5F;
  const auto made = encoded(value);
  auto back = decoded<filled>(made);
  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_EQ(back->values, value.values);
  back->values[0, 0] = 1;
  const auto again = decoded<filled>(made);
  EXPECT_EQ(again->values, value.values) << "nobody writes into what was received";
}

TEST_P(arrays, can_be_read_as_records) {
  if (GetParam().name == std::string_view("cereal"))
    GTEST_SKIP() << "its payloads do not say what they consist of";
  const two_arrays value{*counted<double>({1, 3}).broadcast_to({2, 3}), counted<double>({2, 3}, memory_order::fortran)};
  const type_registry unaware;
  auto any = deserialize_any(encoded(value), {.deserializers = {GetParam().name}, .context = {}}, unaware, families);
  ASSERT_TRUE(any.has_value()) << any.error().message();
  const auto* seen = any->get<record>();
  ASSERT_NE(seen, nullptr);
  EXPECT_EQ(seen->find("left")->as_array<double>(), value.left);
  EXPECT_EQ(seen->find("right")->as_array<double>(), value.right);
}

// If the peer maps the same bytes, nothing is packed, and the peer gets the strided slice.
TEST(shared_arrays, slices_of_what_the_peer_can_read_are_not_packed) {
  const auto memory = counted<double>({100, 100});
  const frame in_store{memory.bytes().bytes(), std::make_shared<shared_bytes>()};
  const auto all = *array<double>::view_of(in_store, {100, 100});
  const auto part = all.slice(0, 90, 10, -2).slice(1, 5, 95, 3);
  const type_registry types;
  const family_set families;
  for (const bool shared : {false, true}) {
    context ctx;
    ctx.shared_store = shared;
    const auto made = serialize(part, {.on_error = on_error::raise, .context = ctx}, types, families);
    ASSERT_TRUE(made.has_value()) << made.error().message();
    ASSERT_EQ(made->frames.size(), 2U);
    EXPECT_EQ(made->frames[1].bytes().data() == part.bytes().bytes().data(), shared);
    const auto back = deserialize<array<double>>(*made, {}, types, families);
    ASSERT_TRUE(back.has_value()) << back.error().message();
    EXPECT_EQ(*back, part);
    EXPECT_EQ(back->strides() == part.strides(), shared);
  }
}

} // namespace
