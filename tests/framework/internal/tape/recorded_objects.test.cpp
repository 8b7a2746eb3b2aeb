#include <troupe/framework/internal/tape/recorded_objects.hpp>

#include <gtest/gtest.h>

#include "tape_support.hpp"

namespace troupe::internal {
namespace {

using tests::bytes_of;

tape_object piece(std::string_view bytes, std::uint64_t offset, std::uint32_t index = 7, std::uint64_t link = 1) {
  return {.link = link,
          .index = index,
          .generation = 2,
          .size_bytes = 1'000'000,
          .offset = offset,
          .bytes = bytes_of(bytes)};
}

/// "-" if the bytes are not there.
std::string bytes_at(const recorded_objects& in, std::uint64_t offset, std::uint64_t size_bytes,
                     std::uint32_t index = 7, std::uint64_t link = 1) {
  const auto bytes = in.find(link, index, 2, offset, size_bytes);
  return bytes ? tests::text_of(bytes->bytes()) : "-";
}

TEST(recorded_objects_test, pieces_are_put_together) {
  recorded_objects objects{1'000'000};
  objects.add(piece("abc", 0));
  objects.add(piece("def", 3));
  EXPECT_EQ(bytes_at(objects, 0, 6), "abcdef");
  EXPECT_EQ(bytes_at(objects, 2, 2), "cd");
  EXPECT_EQ(bytes_at(objects, 6, 0), "");
}

TEST(recorded_objects_test, bytes_that_are_not_there_are_not_made_up) {
  recorded_objects objects{1'000'000};
  objects.add(piece("abc", 10));
  objects.add(piece("xyz", 14)); // A gap of one byte.
  EXPECT_EQ(bytes_at(objects, 10, 3), "abc");
  EXPECT_EQ(bytes_at(objects, 14, 3), "xyz");
  EXPECT_EQ(bytes_at(objects, 10, 4), "-");
  EXPECT_EQ(bytes_at(objects, 9, 1), "-");
  EXPECT_EQ(bytes_at(objects, 17, 1), "-");
  EXPECT_EQ(bytes_at(objects, 10, UINT64_MAX), "-");
  EXPECT_EQ(bytes_at(objects, 10, 3, 8), "-") << "another object";
  EXPECT_EQ(bytes_at(objects, 10, 3, 7, 2), "-") << "another link";
  EXPECT_FALSE(objects.find(1, 7, 3, 10, 3)) << "another generation";
}

TEST(recorded_objects_test, pieces_of_another_object_in_between_end_the_first) {
  recorded_objects objects{1'000'000};
  objects.add(piece("abc", 0));
  objects.add(piece("other", 0, 8));
  objects.add(piece("def", 3));
  EXPECT_EQ(bytes_at(objects, 0, 3), "abc");
  EXPECT_EQ(bytes_at(objects, 0, 6), "-");
  EXPECT_EQ(bytes_at(objects, 3, 3), "def");
}

TEST(recorded_objects_test, an_object_that_comes_again_replaces_the_first) {
  recorded_objects objects{1'000'000};
  objects.add(piece("abc", 0));
  objects.add(piece("other", 0, 8));
  objects.add(piece("xyz", 0));
  EXPECT_EQ(bytes_at(objects, 0, 3), "xyz");
}

TEST(recorded_objects_test, the_first_ones_make_room_for_later_ones) {
  recorded_objects objects{2'000};
  const std::string large(600, 'x');
  for (std::uint32_t index = 0; index < 100; ++index)
    objects.add(piece(large, 0, index));
  EXPECT_EQ(bytes_at(objects, 0, 600, 0), "-");
  EXPECT_EQ(bytes_at(objects, 0, 600, 99), large);
  objects.add(piece(std::string(3'000, 'y'), 0, 200));
  EXPECT_EQ(bytes_at(objects, 0, 3'000, 200), "-") << "larger than the bound";
  for (std::uint64_t i = 0; i < 10; ++i)
    objects.add(piece(large, i * 600, 300));
  EXPECT_EQ(bytes_at(objects, 0, 6'000, 300), "-") << "an object that grows beyond the bound";
}

TEST(recorded_objects_test, the_objects_of_an_ended_link_are_forgotten) {
  recorded_objects objects{1'000'000};
  objects.add(piece("abc", 0, 7, 1));
  objects.add(piece("xyz", 0, 7, 2));
  objects.forget(1);
  EXPECT_EQ(bytes_at(objects, 0, 3, 7, 1), "-");
  EXPECT_EQ(bytes_at(objects, 0, 3, 7, 2), "xyz");
}

TEST(recorded_objects_test, objects_that_were_gone_have_no_bytes) {
  recorded_objects objects{1'000'000};
  auto gone = piece("", 0);
  gone.state = tape_object::how::gone;
  objects.add(gone);
  EXPECT_EQ(bytes_at(objects, 0, 1'000'000), "-");
  EXPECT_EQ(bytes_at(objects, 0, 0), "-");
}

} // namespace
} // namespace troupe::internal
