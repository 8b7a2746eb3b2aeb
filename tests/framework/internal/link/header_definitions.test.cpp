// A header is defined for the peer once, before a message uses it.
#include <troupe/framework/internal/link/header_definitions.hpp>

#include "way_out.hpp"

namespace troupe::internal {
namespace {

class defining_headers : public encoding_way_out {
protected:
  std::optional<std::uint64_t> text_number(bool is_waited_for = false) {
    return headers.number_of(*known_families.find("typed"), *types.find("str"), *newest, is_waited_for);
  }
  std::size_t defined() {
    const auto held = mutex_.lock();
    return packets_in(*to->open_outbox(held)).size();
  }
};

TEST_F(defining_headers, tells_the_peer_once) {
  EXPECT_EQ(text_number(), 1u);
  EXPECT_EQ(defined(), 1u);
  EXPECT_EQ(text_number(), 1u);
  EXPECT_EQ(defined(), 1u);
}

TEST_F(defining_headers, uses_one_row_of_numbers_for_own_and_others) {
  EXPECT_EQ(text_number(), 1u);
  const auto header = troupe::tests::bytes_of("another node's");
  EXPECT_EQ(headers.number_for_others(header), 2u);
  EXPECT_EQ(headers.number_for_others(header), 2u);
  EXPECT_EQ(defined(), 2u);
}

TEST_F(defining_headers, gives_none_by_lists_that_the_peer_has_changed) {
  EXPECT_TRUE(epochs.change_peer(1, families));
  EXPECT_FALSE(text_number());
  EXPECT_EQ(defined(), 0u);
  EXPECT_TRUE(text_number(true)) << "the peer waits for the message";
}

TEST_F(defining_headers, tells_nobody_once_the_connection_ends) {
  to->close({node_errc::link_down, "over"}, std::chrono::milliseconds{0});
  EXPECT_EQ(text_number(), 1u);
  EXPECT_EQ(headers.number_for_others(troupe::tests::bytes_of("another node's")), 0u);
}

TEST_F(defining_headers, admits_signatures_of_others_up_to_a_bound) {
  EXPECT_TRUE(headers.admits_for_others({"first"}));
  {
    const auto held = mutex_.lock();
    auto& out_ = *to->open_outbox(held);
    std::size_t defined = 0;
    while (words.signature_for_others(held, {std::to_string(defined)}, out_))
      ++defined;
    EXPECT_LE(defined, sent_dictionary::others_signatures_max);
  }
  EXPECT_FALSE(headers.admits_for_others({"one more"}));
  EXPECT_TRUE(headers.admits_for_others({"0"})); // Already defined.
}

} // namespace
} // namespace troupe::internal
