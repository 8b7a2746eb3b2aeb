// Admin packets reach the part that handles them.
#include <troupe/framework/internal/link/admin_table.hpp>

#include <array>

#include <gtest/gtest.h>

namespace troupe::internal {
namespace {

struct watching_part {
  void on_monitor(const monitor& what) { heard = what.actor; }
  std::uint64_t heard = 0;
};

struct link_of_parts {
  std::expected<void, node_error> on_goodbye(const goodbye& what) {
    return std::unexpected{node_error{node_errc::link_down, what.reason}};
  }
  watching_part watching;
};

constexpr std::array rows{
    handled_by_part<link_of_parts, admin_op::monitor, &link_of_parts::watching, &watching_part::on_monitor>,
    handled_by_link<link_of_parts, admin_op::goodbye, &link_of_parts::on_goodbye>};

TEST(an_admin_table, gives_a_part_what_the_packet_says) {
  link_of_parts link;
  const auto* row = row_of<link_of_parts>(admin_op::monitor, rows);
  ASSERT_NE(row, nullptr);
  EXPECT_TRUE(row->handle(link, encode_admin(monitor{7}), limits{}));
  EXPECT_EQ(link.watching.heard, 7u);
}

TEST(an_admin_table, gives_back_what_the_handler_says) {
  link_of_parts link;
  const auto done =
      row_of<link_of_parts>(admin_op::goodbye, rows)->handle(link, encode_admin(goodbye{"enough"}), limits{});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code(), node_errc::link_down);
}

TEST(an_admin_table, refuses_what_cannot_be_read) {
  link_of_parts link;
  const std::array broken{std::byte{0xc1}};
  const auto done = row_of<link_of_parts>(admin_op::monitor, rows)->handle(link, broken, limits{});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code(), node_errc::protocol_violation);
  EXPECT_EQ(link.watching.heard, 0u);
}

TEST(an_admin_table, has_no_row_for_what_nobody_handles) {
  EXPECT_EQ(row_of<link_of_parts>(admin_op::ping, rows), nullptr);
}

} // namespace
} // namespace troupe::internal
