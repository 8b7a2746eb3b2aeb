#include <troupe/framework/internal/wire/outbox.hpp>

#include <gtest/gtest.h>

#include "bytes.hpp"

namespace troupe::internal {
namespace {

using tests::bytes_of;
using tests::text_of;

std::vector<std::string> pieces_of(const outbox& out) {
  std::vector<bytes_view> pieces;
  out.gather(pieces);
  std::vector<std::string> texts;
  for (auto piece : pieces)
    texts.push_back(text_of(piece));
  return texts;
}

void append(outbox& out, std::string_view text) {
  out.append(bytes_of(text));
}

TEST(outbox, small_bytes_leave_in_one_piece) {
  outbox out;
  append(out, "ab");
  append(out, "cd");
  EXPECT_EQ(pieces_of(out), (std::vector<std::string>{"abcd"}));
}

TEST(outbox, frames_keep_their_place_between_small_bytes) {
  outbox out;
  append(out, "ab");
  out.append(frame::copy_of(bytes_of("FRAME")));
  out.append(frame::copy_of(bytes_of("")));
  out.append(frame::copy_of(bytes_of("SECOND")));
  append(out, "cd");
  EXPECT_EQ(pieces_of(out), (std::vector<std::string>{"ab", "FRAME", "SECOND", "cd"}));
  EXPECT_EQ(out.size_bytes(), 15u);
}

TEST(outbox, small_bytes_between_two_frames_stay_there) {
  outbox out;
  out.append(frame::copy_of(bytes_of("FIRST")));
  append(out, "ab");
  out.append(frame::copy_of(bytes_of("SECOND")));
  append(out, "cd");
  EXPECT_EQ(pieces_of(out), (std::vector<std::string>{"FIRST", "ab", "SECOND", "cd"}));
}

TEST(outbox, cleared_it_is_empty) {
  outbox out;
  append(out, "ab");
  out.append(frame::copy_of(bytes_of("FRAME")));
  out.clear();
  EXPECT_TRUE(out.empty());
  EXPECT_EQ(out.size_bytes(), 0u);
  EXPECT_EQ(pieces_of(out), std::vector<std::string>{});
}

} // namespace
} // namespace troupe::internal
