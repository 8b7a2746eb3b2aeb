// The kind that sources and frame owners report.
#include <memory>

#include <gtest/gtest.h>

#include <troupe/framework/internal/objects/lost_object.hpp>
#include <troupe/framework/internal/objects/stored_object.hpp>

namespace troupe::tests {
namespace {

using namespace internal;

TEST(source_kind, tells_settled_objects_from_others) {
  const freed_object freed{"gone"};
  EXPECT_EQ(as_settled(freed), &freed);
  const lost_object lost{5};
  EXPECT_EQ(lost.kind(), source_kind::lost);
  EXPECT_EQ(as_settled(lost), nullptr);
  const local_object local{frame{}};
  EXPECT_EQ(local.kind(), source_kind::local);
  EXPECT_EQ(as_settled(local), nullptr);
}

TEST(source_kind, of_frames_is_that_of_their_owner) {
  EXPECT_EQ(stored_bytes_of(frame{}), nullptr) << "it has none";
  EXPECT_EQ(stored_bytes_of(frame::copy_of({})), nullptr);
  auto own = std::make_shared<heap_bytes>(16);
  EXPECT_EQ(own->kind(), frame_owner_kind::in_process);
  EXPECT_EQ(stored_bytes_of(frame{own->bytes(), own}), nullptr);
}

} // namespace
} // namespace troupe::tests
