// The definitions of signatures and headers that a peer gets: each once and ahead of its use, and a limited number for
// third nodes.
#include <troupe/framework/internal/link/sent_dictionary.hpp>

#include <cstring>

#include <gtest/gtest.h>

#include <troupe/framework/internal/link/received_dictionary.hpp>
#include <troupe/serializers/typed/typed_family.hpp>

namespace troupe::internal {
namespace {

class sent_words : public testing::Test {
protected:
  [[nodiscard]] const type_entry* whole() const { return types.find<int>(); }
  [[nodiscard]] const type_entry* text() const { return types.find<std::string>(); }

  /// Returns the kinds of the packets written since the last call.
  std::vector<packet_kind> written() {
    std::vector<bytes_view> pieces;
    out.gather(pieces);
    std::vector<packet_kind> kinds;
    for (auto rest = pieces.empty() ? bytes_view{} : pieces.front(); rest.size() >= packet_head_bytes;) {
      const auto head = read_packet_head(rest.first<packet_head_bytes>());
      kinds.push_back(head.kind);
      rest = rest.subspan(packet_head_bytes + head.body_bytes);
    }
    out.clear();
    return kinds;
  }

  sent_dictionary::numbered signed_as(const std::vector<const type_entry*>& types_of_it) {
    return sent.signature(held, types_of_it, false, out).value();
  }
  std::uint64_t others_header(std::size_t size_bytes, std::uint32_t which) {
    byte_vector bytes(std::max(size_bytes, sizeof which));
    std::memcpy(bytes.data(), &which, sizeof which);
    return sent.header_for_others(held, bytes, out).number;
  }

  static constexpr auto signature = packet_kind::signature;
  static constexpr auto header = packet_kind::header;

  type_registry types;
  typed_family typed;
  link_mutex mutex;
  link_held held = mutex.lock();
  outbox out;
  sent_dictionary sent;
};

TEST_F(sent_words, a_signature_is_defined_once) {
  const auto first = signed_as({whole()});
  EXPECT_TRUE(first.is_new);
  EXPECT_EQ(first.number, 0u);
  EXPECT_EQ(written(), std::vector{signature});
  const auto again = signed_as({whole()});
  EXPECT_FALSE(again.is_new);
  EXPECT_EQ(again.number, 0u);
  EXPECT_TRUE(written().empty());
}

TEST_F(sent_words, the_order_of_types_makes_another_signature) {
  EXPECT_EQ(signed_as({whole(), text()}).number, 0u);
  EXPECT_EQ(signed_as({text(), whole()}).number, 1u);
  EXPECT_EQ(signed_as({whole(), text()}).number, 0u);
}

TEST_F(sent_words, a_header_is_defined_once_for_each_type) {
  EXPECT_EQ(sent.header(held, typed, *whole(), &out).number, 1u);
  EXPECT_EQ(sent.header(held, typed, *text(), &out).number, 2u);
  EXPECT_EQ(written(), (std::vector{header, header}));
  EXPECT_FALSE(sent.header(held, typed, *whole(), &out).is_new);
  EXPECT_TRUE(written().empty());
}

TEST_F(sent_words, after_the_links_end_a_header_is_told_to_nobody) {
  EXPECT_EQ(sent.header(held, typed, *whole(), nullptr).number, 1u);
  EXPECT_TRUE(written().empty());
}

TEST_F(sent_words, what_is_passed_on_shares_the_rows_of_numbers) {
  EXPECT_EQ(signed_as({whole()}).number, 0u);
  EXPECT_EQ(sent.signature_for_others(held, {"far.type"}, out), 1u);
  EXPECT_EQ(sent.signature_for_others(held, {"far.type"}, out), 1u);
  EXPECT_EQ(signed_as({text()}).number, 2u);
  EXPECT_EQ(sent.header(held, typed, *whole(), &out).number, 1u);
  EXPECT_EQ(others_header(8, 7), 2u);
  EXPECT_EQ(others_header(8, 7), 2u);
  EXPECT_EQ(sent.header(held, typed, *text(), &out).number, 3u);
  EXPECT_EQ(written(), (std::vector{signature, signature, signature, header, header, header}));
}

TEST_F(sent_words, others_headers_are_bounded_in_number_and_own_ones_are_not) {
  for (std::uint32_t i = 0; i < sent_dictionary::others_headers_max; ++i)
    ASSERT_NE(others_header(4, i), 0u);
  written();
  EXPECT_EQ(others_header(4, sent_dictionary::others_headers_max), 0u);
  EXPECT_TRUE(written().empty());
  EXPECT_EQ(others_header(4, 0), 1u); // Existing definitions are still used.
  EXPECT_EQ(sent.header(held, typed, *whole(), &out).number, sent_dictionary::others_headers_max + 1);
}

TEST_F(sent_words, others_signatures_are_bounded_and_own_ones_are_not) {
  const auto name = [](std::size_t i) { return std::vector{"far." + std::to_string(i)}; };
  std::size_t defined = 0;
  while (sent.admits_for_others(held, name(defined))) {
    ASSERT_LT(defined, sent_dictionary::others_signatures_max);
    ASSERT_TRUE(sent.signature_for_others(held, name(defined++), out));
  }
  EXPECT_GT(defined, sent_dictionary::others_signatures_max / 2); // The cost of each at the reader also counts.
  EXPECT_FALSE(sent.admits_for_others(held, {"one.more"}));
  EXPECT_TRUE(sent.admits_for_others(held, name(0)));
  EXPECT_TRUE(signed_as({whole()}).is_new);
}

TEST_F(sent_words, others_definitions_are_bounded_in_bytes_together) {
  constexpr std::size_t large = 1024 * 1024;
  for (std::uint32_t i = 0; i < 4; ++i)
    EXPECT_NE(others_header(large, i), 0u);
  EXPECT_EQ(others_header(4, 9), 0u);
  EXPECT_FALSE(sent.admits_for_others(held, {"far.type"}));
}

// -- the definitions that the peer keeps

/// Both ends of a link that carries only definitions.
class words_of_both_ends : public sent_words {
protected:
  words_of_both_ends() {
    accepted.accept({"typed"});
    for (auto& each : wide)
      each = text();
  }

  /// Returns true if the signature was defined and the peer has accepted it.
  bool defines(std::uint32_t which, bool vital = false) {
    for (std::size_t bit = 0; bit < 16; ++bit)
      wide[bit] = (which >> bit & 1) != 0 ? whole() : text();
    const auto defined = sent.signature(held, wide, vital, out);
    return defined && arrive();
  }
  /// Returns true if the peer has accepted everything that was written.
  bool arrive() {
    std::vector<bytes_view> pieces;
    out.gather(pieces);
    bool taken = true;
    for (auto rest = pieces.empty() ? bytes_view{} : pieces.front(); rest.size() >= packet_head_bytes;) {
      const auto head = read_packet_head(rest.first<packet_head_bytes>());
      const auto body = rest.subspan(packet_head_bytes, head.body_bytes);
      taken = taken
              && (head.kind == signature ? received.add_signature(body).has_value()
                                         : received.add_header(body).has_value());
      rest = rest.subspan(packet_head_bytes + head.body_bytes);
    }
    out.clear();
    return taken;
  }
  std::uint32_t fill() {
    std::uint32_t defined = 0;
    while (defines(defined))
      ++defined;
    return defined;
  }

  family_set families;
  acceptance accepted{types, families, limits{}, false, 1024};
  received_dictionary received{accepted, nullptr};
  std::vector<const type_entry*> wide{100};
};

TEST_F(words_of_both_ends, a_signature_for_which_the_peer_has_no_room_is_not_defined) {
  const auto defined = fill();
  EXPECT_GT(defined, 1000u);
  EXPECT_EQ(received.signatures(), defined);
  EXPECT_TRUE(written().empty()) << "the peer would end the link";
  EXPECT_FALSE(defines(defined));
  EXPECT_TRUE(defines(0)) << "it is known";
}

TEST_F(words_of_both_ends, a_header_for_which_the_peer_has_no_room_stands_in_each_element) {
  EXPECT_EQ(sent.header(held, typed, *text(), &out).number, 1u);
  EXPECT_TRUE(arrive());
  fill();
  for (std::uint32_t i = 0; others_header(4, i) != 0; ++i)
    ASSERT_LT(i, 1000u);
  written();
  EXPECT_EQ(sent.header(held, typed, *whole(), &out).number, 0u);
  EXPECT_TRUE(written().empty());
  EXPECT_EQ(sent.header(held, typed, *text(), &out).number, 1u) << "it is known";
}

TEST_F(words_of_both_ends, errors_and_ends_of_actors_find_room_all_the_same) {
  const auto defined = fill();
  EXPECT_FALSE(defines(defined));
  EXPECT_TRUE(defines(defined, true));
}

TEST_F(words_of_both_ends, what_is_passed_on_finds_no_room_where_own_signatures_have_taken_it) {
  fill();
  EXPECT_FALSE(sent.signature_for_others(held, std::vector<std::string>(wide.size(), "a.type.of.others"), out));
  EXPECT_TRUE(written().empty());
}

} // namespace
} // namespace troupe::internal
