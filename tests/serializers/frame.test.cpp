#include <gtest/gtest.h>

#include <troupe/serializers/array.hpp>
#include <troupe/serializers/frame.hpp>

namespace {

using namespace troupe;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

struct watched_owner : frame_owner {
  explicit watched_owner(bool& flag) : gone(flag) {}
  ~watched_owner() override { gone = true; }
  bool& gone;
};

TEST(frame, copies_are_aligned_for_any_element_type) {
  const auto copy = frame::copy_of(bytes_of("abc"));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(copy.bytes().data()) % frame::alignment_bytes, 0U);
  EXPECT_EQ(copy.size_bytes(), 3U);
}

TEST(frame, keeps_its_owner_until_the_last_slice_is_gone) {
  bool gone = false;
  frame slice;
  {
    const frame whole(bytes_of("abcdef"), std::make_shared<watched_owner>(gone));
    slice = whole.slice(2, 3);
  }
  EXPECT_FALSE(gone);
  EXPECT_EQ(slice.bytes()[0], std::byte{'c'});
  slice = {};
  EXPECT_TRUE(gone);
}

TEST(frame, cuts_slices_that_reach_beyond_the_end) {
  const auto whole = frame::copy_of(bytes_of("abc"));
  EXPECT_EQ(whole.slice(1, 100).size_bytes(), 2U);
  EXPECT_EQ(whole.slice(100, 1).size_bytes(), 0U);
  EXPECT_EQ(whole.slice(1, SIZE_MAX).size_bytes(), 2U);
}

TEST(frame, tells_whose_bytes_it_has) {
  bool gone = false;
  const frame owned(bytes_of("x"), std::make_shared<watched_owner>(gone));
  EXPECT_NE(dynamic_cast<const watched_owner*>(owned.owner().get()), nullptr);
  EXPECT_EQ(dynamic_cast<const watched_owner*>(frame::copy_of(bytes_of("x")).owner().get()), nullptr);
}

TEST(frame, adopts_a_vector_without_copying) {
  std::vector<std::byte> bytes(100);
  const auto* address = bytes.data();
  EXPECT_EQ(frame::adopt(std::move(bytes)).bytes().data(), address);
}

TEST(frame, that_was_moved_from_is_empty) {
  auto whole = frame::copy_of(bytes_of("abc"));
  auto taken = std::move(whole);
  EXPECT_EQ(whole.size_bytes(), 0U);
  EXPECT_EQ(whole.bytes().data(), nullptr);
  EXPECT_EQ(whole.owner(), nullptr);
  whole = std::move(taken);
  EXPECT_EQ(taken.size_bytes(), 0U);
  EXPECT_EQ(whole.size_bytes(), 3U);
  auto& same = whole;
  whole = std::move(same);
  EXPECT_EQ(whole.size_bytes(), 3U);
}

TEST(array, views_a_frame_in_place_or_not_at_all) {
  const std::vector<std::int32_t> values = {1, 2, 3, 4, 5, 6};
  const auto bytes = frame::copy_of(std::as_bytes(std::span(values)));
  const auto view = array<std::int32_t>::view_of(bytes, {2, 3});
  ASSERT_TRUE(view.has_value());
  EXPECT_EQ(static_cast<const void*>(view->data()), bytes.bytes().data());
  EXPECT_EQ(view->to_vector(), values);
  EXPECT_FALSE(array<std::int32_t>::view_of(bytes, {7}));
  EXPECT_FALSE(array<std::int32_t>::view_of(bytes, {SIZE_MAX, 2}));
  EXPECT_FALSE(array<std::int32_t>::view_of(bytes.slice(1, 4), {1}));
  EXPECT_TRUE(array<std::int32_t>::view_of(bytes.slice(0, 4), {}));
}

} // namespace
