// array<T> and writable_array<T> alone: shapes, strides, slices, and printing.
#include <cmath>
#include <limits>
#include <sstream>

#include <gtest/gtest.h>

#include "counted_array.hpp"

namespace {

using namespace troupe;

using lengths = std::vector<std::size_t>;
using strides = std::vector<std::ptrdiff_t>;

static_assert(!std::is_assignable_v<decltype(std::declval<array<int>&>()[0]), int>);
static_assert(!std::is_assignable_v<decltype(*std::declval<array<int>&>().begin()), int>);
static_assert(!std::is_assignable_v<decltype(std::declval<array<int>&>().span()[0]), int>);
static_assert(std::random_access_iterator<array<int>::iterator>);

TEST(array, has_the_last_index_fastest_unless_made_otherwise) {
  const auto c = counted({2, 3});
  EXPECT_EQ(c.rank(), 2U);
  EXPECT_EQ(c.strides(), (strides{3, 1}));
  EXPECT_EQ((c[1, 0]), 3);
  EXPECT_TRUE(c.is_contiguous());
  EXPECT_FALSE(c.is_contiguous(memory_order::fortran));
  const auto fortran = counted({2, 3}, memory_order::fortran);
  EXPECT_EQ(fortran.strides(), (strides{1, 2}));
  EXPECT_EQ((fortran[1, 0]), 1);
  EXPECT_FALSE(fortran.is_contiguous());
  EXPECT_TRUE(fortran.is_contiguous(memory_order::fortran));
  EXPECT_EQ(fortran.to_vector(), (std::vector{0, 2, 4, 1, 3, 5}));
  EXPECT_NE(fortran, c);
  EXPECT_EQ(fortran.contiguous(), fortran);
  EXPECT_TRUE(fortran.contiguous().is_contiguous());
  EXPECT_EQ(c.contiguous(memory_order::fortran).strides(), fortran.strides());
}

TEST(array, of_no_dimension_holds_one_element) {
  const auto one = array<double>::copy_of(std::vector{2.5}, {});
  EXPECT_EQ(one.size(), 1U);
  EXPECT_EQ(one.rank(), 0U);
  EXPECT_EQ((one[]), 2.5);
  EXPECT_EQ(one.to_vector(), (std::vector{2.5}));
}

TEST(array, may_be_empty_in_any_dimension) {
  EXPECT_TRUE(array<int>().empty());
  EXPECT_EQ(array<int>().shape(), lengths{0});
  const auto flat = counted({3, 0, SIZE_MAX});
  EXPECT_TRUE(flat.empty());
  EXPECT_TRUE(flat.span().empty());
  EXPECT_EQ(flat.begin(), flat.end());
  EXPECT_EQ(flat.slice(0, 1, 2).shape(), (lengths{1, 0, SIZE_MAX}));
  EXPECT_EQ(flat.transposed().shape(), (lengths{SIZE_MAX, 0, 3}));
}

TEST(array, is_cut_as_python_cuts) {
  const auto ten = counted({10});
  EXPECT_EQ(ten.slice(0, 2, 5).to_vector(), (std::vector{2, 3, 4}));
  EXPECT_EQ(ten.slice(0, -3, 100).to_vector(), (std::vector{7, 8, 9}));
  EXPECT_EQ(ten.slice(0, 1, 9, 3).to_vector(), (std::vector{1, 4, 7}));
  EXPECT_EQ(ten.slice(0, 9, 5, -2).to_vector(), (std::vector{9, 7}));
  EXPECT_EQ(ten.slice(0, -1, PTRDIFF_MIN, -4).to_vector(), (std::vector{9, 5, 1}));
  EXPECT_EQ(ten.slice(0, PTRDIFF_MIN, PTRDIFF_MAX, PTRDIFF_MAX).to_vector(), (std::vector{0}));
  EXPECT_EQ(ten.slice(0, PTRDIFF_MAX, PTRDIFF_MIN, PTRDIFF_MIN).to_vector(), (std::vector{9}));
  EXPECT_TRUE(ten.slice(0, 5, 5).empty());
  EXPECT_TRUE(ten.slice(0, 7, 3).empty());
  EXPECT_TRUE(ten.slice(0, 3, 7, -1).empty());
}

TEST(array, slices_share_the_bytes) {
  const auto all = counted({4, 5});
  const auto inner = all.slice(0, 1, 3).slice(1, 4, 0, -2);
  EXPECT_EQ(inner.shape(), (lengths{2, 2}));
  EXPECT_EQ(inner.to_vector(), (std::vector{9, 7, 14, 12}));
  EXPECT_EQ((&inner[0, 0]), (&all[1, 4]));
  EXPECT_EQ((inner[1, 1]), 12);
  EXPECT_EQ(std::vector<int>(inner.begin(), inner.end()), inner.to_vector());
  EXPECT_EQ(*(inner.end() - 1), 12);
  EXPECT_FALSE(inner.is_contiguous());
  EXPECT_THROW(static_cast<void>(inner.span()), std::logic_error);
  EXPECT_EQ(inner.bytes().size_bytes(), 8 * sizeof(int)) << "from 7 to 14";
  EXPECT_EQ(inner.bytes().owner(), all.bytes().owner());
  const auto packed = inner.contiguous();
  EXPECT_EQ(packed, inner);
  EXPECT_NE(packed.bytes().owner(), all.bytes().owner()) << "it keeps its own bytes alive and no others";
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(packed.data()) % frame::alignment_bytes, 0U);
  EXPECT_EQ(all.select(0, 2).to_vector(), (std::vector{10, 11, 12, 13, 14}));
  EXPECT_EQ(all.select(1, 2).to_vector(), (std::vector{2, 7, 12, 17}));
  EXPECT_EQ((all.select(0, 2).select(0, 1)[]), 11);
  EXPECT_TRUE(all.select(0, 2).is_contiguous());
  EXPECT_EQ((all.transposed()[3, 1]), 8);
  EXPECT_EQ(all.transposed().transposed(), all);
}

TEST(array, is_reshaped_without_a_copy_where_that_can_be) {
  const auto all = counted({4, 6});
  const auto other = all.reshaped({2, 2, 6});
  ASSERT_TRUE(other.has_value());
  EXPECT_EQ(other->data(), all.data());
  EXPECT_EQ(((*other)[1, 1, 5]), 23);
  EXPECT_FALSE(all.reshaped({5, 5}).has_value());
  EXPECT_FALSE(all.reshaped({SIZE_MAX, SIZE_MAX}).has_value());
  const auto turned = all.transposed().reshaped({24});
  ASSERT_TRUE(turned.has_value());
  EXPECT_NE(turned->data(), all.data());
  EXPECT_EQ((*turned)[1], 6);
}

TEST(array, repeats_elements_without_a_copy) {
  const auto row = counted({3});
  const auto rows = row.broadcast_to({1'000'000, 3});
  ASSERT_TRUE(rows.has_value());
  EXPECT_EQ(rows->strides(), (strides{0, 1}));
  EXPECT_EQ(rows->size(), 3'000'000U);
  EXPECT_EQ(rows->bytes().size_bytes(), 3 * sizeof(int));
  EXPECT_EQ(((*rows)[999'999, 2]), 2);
  EXPECT_EQ(rows->without_repeats().shape(), (lengths{1, 3}));
  const auto columns = counted({3, 1}).broadcast_to({3, 2});
  EXPECT_EQ(columns->to_vector(), (std::vector{0, 0, 1, 1, 2, 2}));
  EXPECT_FALSE(row.broadcast_to({3, 2}).has_value());
  EXPECT_FALSE(counted({2, 3}).broadcast_to({3}).has_value());
  EXPECT_FALSE(row.broadcast_to({SIZE_MAX, 3}).has_value());
  const auto zeros = array<float>::filled(0, {1024, 1024});
  ASSERT_TRUE(zeros.has_value());
  EXPECT_EQ(zeros->bytes().size_bytes(), sizeof(float));
}

TEST(array, views_a_frame_with_strides_only_where_every_element_lies_in_it) {
  const auto bytes = counted({10}).bytes();
  const auto view = array<int>::view_of(bytes, {2, 3}, {-5, 2}, 5);
  ASSERT_TRUE(view.has_value());
  EXPECT_EQ(view->to_vector(), (std::vector{5, 7, 9, 0, 2, 4}));
  EXPECT_TRUE(array<int>::view_of(bytes, {10}, {-1}, 9).has_value());
  EXPECT_TRUE(array<int>::view_of(bytes, {0, 5}, {100, 100}, 77).has_value()) << "of nothing";
  EXPECT_FALSE(array<int>::view_of(bytes, {10}, {-1}, 8).has_value());
  EXPECT_FALSE(array<int>::view_of(bytes, {2, 3}, {5, 2}, 1).has_value());
  EXPECT_FALSE(array<int>::view_of(bytes, {}, {}, 10).has_value());
  EXPECT_FALSE(array<int>::view_of(bytes, {2}, {1, 1}, 0).has_value());
  EXPECT_FALSE(array<int>::view_of(bytes, {2}, {PTRDIFF_MIN}, 0).has_value());
  EXPECT_FALSE(array<int>::view_of(bytes, {SIZE_MAX / 2, 1}, {PTRDIFF_MAX, 1}, 0).has_value());
  EXPECT_FALSE(array<int>::view_of(bytes, {3, 3}, {PTRDIFF_MAX, PTRDIFF_MAX}, 0).has_value());
  EXPECT_FALSE(array<std::int64_t>::view_of(bytes.slice(4, 8), {1}, {1}, 0).has_value()) << "not aligned";
}

TEST(array, is_joined_without_a_copy_where_pieces_are_adjacent) {
  const auto all = counted<double>({7, 2});
  const std::vector pieces{all.slice(0, 0, 3), all.slice(0, 3, 4), all.slice(0, 4, 7)};
  const auto whole = joined<double>(pieces);
  ASSERT_TRUE(whole.has_value());
  EXPECT_EQ(*whole, all);
  EXPECT_EQ(whole->data(), all.data());
  const std::vector apart{pieces[2], pieces[0]};
  const auto copied = joined<double>(apart);
  ASSERT_TRUE(copied.has_value());
  EXPECT_EQ(copied->shape(), (lengths{6, 2}));
  EXPECT_EQ(((*copied)[0, 1]), 9);
  EXPECT_EQ(((*copied)[5, 1]), 5);
  const std::vector different{all, counted<double>({7, 3})};
  EXPECT_FALSE(joined<double>(different).has_value());
  EXPECT_TRUE(joined<double>({})->empty());
}

TEST(writable_array, is_filled_and_frozen_where_it_lies) {
  writable_array<int> rows(lengths{2, 3});
  EXPECT_EQ(rows.span()[5], 0);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(rows.data()) % frame::alignment_bytes, 0U);
  rows[1, 2] = 7;
  std::span<int> span = rows.span();
  span[0] = 1;
  const auto* at = rows.data();
  const auto frozen = std::move(rows).freeze();
  EXPECT_EQ(frozen.data(), at);
  EXPECT_EQ((frozen[1, 2]), 7);
  auto copy = frozen.transposed().copy();
  EXPECT_EQ(copy.shape(), (lengths{3, 2}));
  EXPECT_EQ((copy[2, 1]), 7);
  copy[2, 1] = 8;
  EXPECT_EQ((frozen[1, 2]), 7);
  const auto again = copy;
  EXPECT_EQ(again, copy);
  EXPECT_NE(again.data(), copy.data());
}

TEST(writable_array, that_was_moved_from_is_empty) {
  writable_array<int> rows(lengths{2, 3});
  const auto taken = std::move(rows);
  EXPECT_EQ(taken.shape(), (lengths{2, 3}));
  EXPECT_EQ(rows.shape(), (lengths{0}));
  EXPECT_EQ(rows.rank(), 1U);
  EXPECT_EQ(rows, writable_array<int>());
  EXPECT_EQ(rows, writable_array<int>(lengths{0}));
  EXPECT_NE(rows, writable_array<int>(lengths{}));
  EXPECT_EQ(std::move(rows).freeze(), array<int>());
  rows = taken;
  EXPECT_EQ(rows, taken);
}

TEST(array, that_was_moved_from_is_empty) {
  auto rows = counted({2, 3}).transposed();
  { const auto taken = std::move(rows); }
  EXPECT_EQ(rows, array<int>());
  EXPECT_EQ(rows.copy(), writable_array<int>());
  EXPECT_EQ(rows.transposed().bytes().size_bytes(), 0U);
  EXPECT_EQ(to_text(rows), "[]");
}

template <class T>
std::string printed(const array<T>& values) {
  std::ostringstream to;
  to << values;
  return to.str();
}

// The expected texts are those that numpy 1.24 prints for the same arrays.
TEST(array, is_printed_as_numpy_prints) {
  EXPECT_EQ(printed(counted({3})), "[0 1 2]");
  EXPECT_EQ(printed(counted({2, 6}).slice(1, 4, 6)), "[[ 4  5]\n [10 11]]");
  EXPECT_EQ(printed(counted<std::uint8_t>({2, 1, 2})), "[[[0 1]]\n\n [[2 3]]]");
  EXPECT_EQ(printed(array(std::vector{-1, 10})), "[-1 10]");
  EXPECT_EQ(printed(array<int>()), "[]");
  EXPECT_EQ(printed(array<double>::copy_of(std::vector{2.5}, {})), "2.5");
  EXPECT_EQ(printed(array<double>::copy_of(std::vector{2.0}, {})), "2.0");
  EXPECT_EQ(printed(array(std::vector{1.0, 2.5, -3.25})), "[ 1.    2.5  -3.25]");
  EXPECT_EQ(printed(array(std::vector{1.0, 2.0})), "[1. 2.]");
  EXPECT_EQ(printed(array(std::vector{0.1, 1.0 / 3})), "[0.1        0.33333333]");
  EXPECT_EQ(printed(array(std::vector{0.1F, 1.0F / 3})), "[0.1        0.33333334]");
  EXPECT_EQ(printed(array(std::vector{1e-5, 2.5e9})), "[1.0e-05 2.5e+09]");
  EXPECT_EQ(printed(array(std::vector{1e-5, 2e9})), "[1.e-05 2.e+09]");
  EXPECT_EQ(printed(array(std::vector{1e8})), "[1.e+08]");
  EXPECT_EQ(printed(array(std::vector{9.328127e-06F, 1.4355469F})), "[9.3281269e-06 1.4355469e+00]");
  EXPECT_EQ(printed(array(std::vector{99999999.0})), "[99999999.]");
  EXPECT_EQ(printed(array(std::vector{1.0, 1001.0})), "[1.000e+00 1.001e+03]");
  EXPECT_EQ(printed(array(std::vector{1.5, std::nan(""), -std::numeric_limits<double>::infinity()})),
            "[ 1.5  nan -inf]");
  EXPECT_EQ(printed(array(std::vector{-0.0, 0.0})), "[-0.  0.]");
}

TEST(array, is_printed_by_its_ends_when_it_is_long) {
  EXPECT_EQ(printed(counted({1001})), "[   0    1    2 ...  998  999 1000]");
  EXPECT_EQ(printed(counted({500, 3})),
            "[[   0    1    2]\n [   3    4    5]\n [   6    7    8]\n ...\n [1491 1492 1493]\n [1494 1495 1496]\n "
            "[1497 1498 1499]]");
  EXPECT_EQ(printed(counted({30})), "[ 0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23\n"
                                    " 24 25 26 27 28 29]");
}

TEST(array, is_printed_in_bounded_text_whatever_its_shape) {
  const auto text_of = [](const std::vector<std::size_t>& shape) { return printed(*array<double>::filled(1, shape)); };
  constexpr std::size_t most = 1 << 20;
  EXPECT_LT(text_of(std::vector<std::size_t>(9, 6)).size(), most);
  EXPECT_LT(text_of(std::vector<std::size_t>(39, 3)).size(), most);
  EXPECT_LT(text_of(std::vector<std::size_t>(64, 1)).size(), most);
  auto wide = std::vector<std::size_t>(64, 1);
  wide[0] = wide[1] = wide[2] = wide[3] = 1000;
  EXPECT_LT(text_of(wide).size(), most);
  EXPECT_EQ(text_of({4, 4, 4, 4, 4, 4}).substr(0, 18), "[[[[[[1. 1. 1. 1.]");
  EXPECT_EQ(text_of({5, 5, 5, 5, 5, 5}).substr(0, 23), "[[[[[[1. 1. ... 1. 1.]\n");
  EXPECT_EQ(text_of(std::vector<std::size_t>(60'000, 1)), "[an array of 60,000 dimensions, 1 elements]");
}

} // namespace
