// The reason of an actor's end arrives unchanged.
#include <troupe/framework/internal/caf_port/end_reasons.hpp>

#include <string>

#include <caf/exit_reason.hpp>
#include <caf/make_message.hpp>
#include <caf/sec.hpp>

#include <gtest/gtest.h>

#include <troupe/framework/node_error.hpp>

namespace troupe::internal {
namespace {

caf::error over_a_link(const caf::error& reason) {
  return reason_of(down_of(7, reason));
}

TEST(end_reasons, of_a_normal_end_are_none) {
  EXPECT_EQ(down_of(7, {}).actor, 7u);
  EXPECT_FALSE(over_a_link({}));
}

TEST(end_reasons, keep_code_and_category) {
  EXPECT_EQ(over_a_link(caf::make_error(caf::exit_reason::user_shutdown)), caf::exit_reason::user_shutdown);
  EXPECT_EQ(over_a_link(caf::make_error(caf::sec::runtime_error)), caf::sec::runtime_error);
}

TEST(end_reasons, keep_a_text_over_several_nodes) {
  const auto told = over_a_link(over_a_link(to_caf_error({node_errc::link_down, "the cable"})));
  EXPECT_EQ(told.context().get_as<std::string>(0), "the cable");
  EXPECT_EQ(told.code(), static_cast<std::uint8_t>(node_errc::link_down));
}

TEST(end_reasons, render_what_else_a_context_holds) {
  const caf::error reason{3, caf::atom("test"), caf::make_message(1, 2)};
  EXPECT_EQ(over_a_link(reason).context().get_as<std::string>(0), "(1, 2)");
}

TEST(end_reasons, of_a_lost_node_are_cafs) {
  EXPECT_EQ(reason_of_lost_node(), caf::exit_reason::remote_link_unreachable);
}

} // namespace
} // namespace troupe::internal
