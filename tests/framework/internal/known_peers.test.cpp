#include <troupe/framework/internal/trust/known_peers.hpp>

#include <gtest/gtest.h>

#include "bytes.hpp"

namespace troupe::internal {
namespace {

using tests::bytes_of;

class peers : public testing::Test {
protected:
  static std::string id(std::uint32_t process) { return "host#" + std::to_string(process); }
  bool enter(std::uint32_t process, std::string_view token) { return known_.enter(id(process), bytes_of(token)); }

  known_peers known_;
};

TEST_F(peers, may_have_several_links_by_one_token) {
  EXPECT_TRUE(enter(1, "mine"));
  EXPECT_TRUE(enter(1, "mine"));
  EXPECT_TRUE(enter(2, "yours"));
}

TEST_F(peers, that_claim_anothers_id_are_refused_until_all_its_links_are_gone) {
  EXPECT_TRUE(enter(1, "mine"));
  EXPECT_TRUE(enter(1, "mine"));
  EXPECT_FALSE(enter(1, "yours"));
  known_.leave(id(1));
  EXPECT_FALSE(enter(1, "yours"));
  known_.leave(id(1));
  EXPECT_TRUE(enter(1, "yours"));
  EXPECT_FALSE(enter(1, "mine"));
}

} // namespace
} // namespace troupe::internal
