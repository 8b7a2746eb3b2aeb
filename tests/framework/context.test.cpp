// Tests which facts codecs get about the two ends of a link.
#include "certificates.hpp"
#include "two_nodes.hpp"

namespace troupe::tests {

/// Records the facts that its codec gets at each end.
struct postcard {
  std::vector<std::string> written; // When encoded: sender and recipient; name, address, node, incarnation each.
  std::vector<std::string> read;    // The same when decoded.
};

inline std::vector<std::string> told(const context& what) {
  return {std::string{what.sender},         std::string{what.sender_address},
          std::string{what.sender_node},    std::to_string(what.sender_incarnation),
          std::string{what.recipient},      std::string{what.recipient_address},
          std::string{what.recipient_node}, std::to_string(what.recipient_incarnation)};
}

} // namespace troupe::tests

namespace troupe {

template <>
struct codec<tests::postcard> {
  using form = std::vector<std::string>;
  static std::expected<form, serialize_error> reduce(const tests::postcard&, const context& on_the_way) {
    return tests::told(on_the_way);
  }
  static std::expected<tests::postcard, serialize_error> rebuild(form&& from, const context& on_the_way) {
    return tests::postcard{std::move(from), tests::told(on_the_way)};
  }
};

} // namespace troupe

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::tests::postcard)

namespace troupe::tests {
namespace {

class told_to_codecs : public two_nodes {
protected:
  told_to_codecs() {
    near_types_ = far_types_ = [](type_registry& types) { types.add<postcard>("test.postcard"); };
  }

  /// Sends one postcard. Returns it with the records of both ends.
  postcard send_one(const link_options& options = {}) {
    auto got = std::make_shared<std::promise<postcard>>();
    publish("reader", far().system.spawn([got]() -> caf::behavior {
      return {[got](const postcard& card) { got->set_value(card); }};
    }));
    connect(options);
    caf::anon_send(find("reader"), postcard{});
    auto read = got->get_future();
    if (read.wait_for(10s) != std::future_status::ready)
      throw std::runtime_error("no postcard came");
    return read.get();
  }

  static std::string id_of(const side& end) { return caf::to_string(end.system.node()); }
};

// Goal: codecs at both ends get the same facts about both nodes, even if the nodes have the same name.
TEST_F(told_to_codecs, nodes_of_one_name_are_told_apart) {
  near_options_.name = far_options_.name = "same";
  const auto card = send_one();
  EXPECT_EQ(card.written, card.read);
  ASSERT_EQ(card.read.size(), 8u);
  EXPECT_EQ(card.read[0], "same");
  EXPECT_EQ(card.read[1], ""); // The near end cannot be dialed.
  EXPECT_EQ(card.read[2], id_of(near()));
  EXPECT_EQ(card.read[4], "same");
  EXPECT_EQ(card.read[5], address_);
  EXPECT_EQ(card.read[6], id_of(far()));
  EXPECT_NE(card.read[2], card.read[6]);
  EXPECT_NE(card.read[3], "0");
  EXPECT_NE(card.read[7], "0");
  EXPECT_NE(card.read[3], card.read[7]);
}

TEST_F(told_to_codecs, a_node_that_is_opened_again_is_another) {
  const auto first = send_one();
  far_.reset();
  const auto second = send_one();
  EXPECT_EQ(first.read[2], second.read[2]);
  EXPECT_EQ(first.read[3], second.read[3]);
  EXPECT_NE(first.read[6], second.read[6]);
  EXPECT_NE(first.read[7], second.read[7]);
}

TEST_F(told_to_codecs, nodes_without_a_store_have_no_incarnation) {
  near_options_.store = far_options_.store = std::nullopt;
  const auto card = send_one();
  EXPECT_EQ(card.read[3], "0");
  EXPECT_EQ(card.read[7], "0");
  EXPECT_EQ(card.written, card.read);
}

TEST_F(told_to_codecs, a_socket_file_is_named_by_its_path) {
  address_ = "unix:///tmp/" + unique_name("troupe-context");
  far_options_.listen = {address_};
  const auto card = send_one();
  EXPECT_EQ(card.read[5], address_);
  EXPECT_EQ(card.written, card.read);
}

TEST_F(told_to_codecs, of_tcp_both_ends_have_addresses) {
  far_options_.listen = {"tcp://127.0.0.1:0"};
  link_options options;
  far_options_.accepted_links.credentials.secret = options.credentials.secret = "a secret of at least 16 bytes";
  const auto card = send_one(options);
  EXPECT_EQ(card.written, card.read);
  EXPECT_TRUE(card.read[1].starts_with("tcp://127.0.0.1:")) << card.read[1];
  EXPECT_EQ(card.read[5], address_);
}

TEST_F(told_to_codecs, of_tls_both_ends_have_addresses) {
  certificate_folder made;
  const auto authority = made.authority("authority");
  const auto own = made.issue(authority, "far", "IP:::1");
  far_options_.listen = {"tls://[::1]:0"};
  link_options options;
  far_options_.accepted_links.credentials.secret = options.credentials.secret = "a secret of at least 16 bytes";
  far_options_.accepted_links.credentials.tls = {.certificate_file = own.certificate, .key_file = own.key};
  options.credentials.tls = {.authority_file = authority.certificate};
  const auto card = send_one(options);
  EXPECT_EQ(card.written, card.read);
  EXPECT_TRUE(card.read[1].starts_with("tls://[::1]:")) << card.read[1];
  EXPECT_EQ(card.read[5], address_);
}

TEST_F(told_to_codecs, of_inproc_the_listening_end_has_an_address) {
  address_ = "inproc://" + unique_name("context");
  far_options_.listen = {address_};
  const auto card = send_one({.verify_serialization = true});
  EXPECT_EQ(card.written, card.read);
  EXPECT_EQ(card.read[1], "");
  EXPECT_EQ(card.read[5], address_);
}

} // namespace
} // namespace troupe::tests
