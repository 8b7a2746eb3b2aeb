// Families per link: the agreement in the handshake, the refusals of each end, and their error texts.
#include <filesystem>
#include <fstream>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "log_lines.hpp"
#include "two_nodes.hpp"

namespace troupe::tests {
namespace {

/// A type that only its own codec can encode; the codec belongs to the family "typed".
struct opaque {
  int value = 0;
};

/// A type whose layout takes about 250 bytes.
struct widely_laid_out {
  std::string a_field_whose_name_takes_fifty_bytes_of_the_header_1;
  std::string a_field_whose_name_takes_fifty_bytes_of_the_header_2;
  std::string a_field_whose_name_takes_fifty_bytes_of_the_header_3;
  std::string a_field_whose_name_takes_fifty_bytes_of_the_header_4;
};
TROUPE_DESCRIBE(widely_laid_out, a_field_whose_name_takes_fifty_bytes_of_the_header_1,
                a_field_whose_name_takes_fifty_bytes_of_the_header_2,
                a_field_whose_name_takes_fifty_bytes_of_the_header_3,
                a_field_whose_name_takes_fifty_bytes_of_the_header_4)

} // namespace
} // namespace troupe::tests

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::tests::opaque)

namespace troupe::tests {
namespace {

void add_opaque(type_registry& types) {
  types.add<opaque>(
      "test.opaque",
      [](const opaque& what, const context&) -> std::expected<own_form, serialize_error> {
        return own_form{{static_cast<std::byte>(what.value)}, {}};
      },
      [](std::span<const std::byte> header, std::span<const frame>,
         const context&) -> std::expected<opaque, serialize_error> { return opaque{static_cast<int>(header[0])}; });
}

caf::behavior value_of_opaque() {
  return {[](const opaque& what) { return what.value; }, [](const secret& what) { return what.value; },
          [](int value) { return value; }};
}

std::expected<void, node_error> try_connect(two_nodes&, node& from, const std::string& address,
                                            const link_options& options) {
  auto connected = from.connect(address, options);
  if (!connected)
    return std::unexpected{connected.error()};
  return {};
}

TEST_F(two_nodes, ends_with_nothing_in_common_do_not_link_and_the_error_has_both_lists) {
  far_options_.accepted_links.serializers = {"typed"};
  far();
  auto connected = try_connect(*this, *near().home, address_, {.serializers = {"msgpack"}});
  ASSERT_FALSE(connected);
  EXPECT_EQ(connected.error().code(), node_errc::nothing_in_common);
  EXPECT_NE(connected.error().message().find("near sends with [msgpack], far accepts [typed]"), std::string::npos)
      << connected.error().message();
}

TEST_F(two_nodes, the_first_family_that_the_peer_accepts_is_used) {
  far_options_.accepted_links = {.serializers = {"typed", "msgpack"}, .deserializers = {"msgpack"}};
  connect();
  EXPECT_EQ(link_->serializers(), std::vector<std::string>{"msgpack"});
}

TEST_F(two_nodes, a_type_without_a_common_family_is_refused_at_send_with_both_lists) {
  const auto add_without_codec = [](type_registry& types) { types.add<opaque>("test.opaque"); };
  far_types_ = add_without_codec;
  far_options_.accepted_links.deserializers = {"msgpack"};
  publish("opener", far().system.spawn(value_of_opaque));
  add_without_codec(near().types);
  connect({.serializers = {"typed", "msgpack"}});
  auto answer = ask<int>(near().system, find("opener"), opaque{7});
  ASSERT_FALSE(answer);
  auto text = text_of(answer);
  EXPECT_NE(text.find("test.opaque"), std::string::npos) << text;
  EXPECT_NE(text.find("near sends with [typed, msgpack], far accepts [msgpack]"), std::string::npos) << text;
  EXPECT_EQ(link_->stats().unserializable, 1u);
  EXPECT_EQ(ask<int>(near().system, find("opener"), 3), 3); // The link stays open.
}

// Goal: a program that keeps sending values of a type that cannot cross the link does not fill its log.
TEST_F(two_nodes, a_type_that_cannot_be_sent_is_logged_once_for_each_link) {
  near_types_ = [](type_registry& types) { types.add<opaque>("test.opaque"); };
  publish("opener", far().system.spawn(value_of_opaque));
  connect();
  log_lines log{log_level::warning};
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(ask<int>(near().system, find("opener"), opaque{i}));
    EXPECT_FALSE(ask<int>(near().system, find("opener"), secret{i}));
  }
  const std::string once = "; logged once, counted in link_stats::unserializable";
  EXPECT_EQ(log.with("warning: not sent to far: no family of [typed, msgpack] can carry 'test.opaque': "), 1u)
      << log.text();
  EXPECT_EQ(log.with("warning: not sent to far: type troupe::tests::secret has no alias"), 1u) << log.text();
  EXPECT_EQ(log.with(once), 2u) << log.text();
  EXPECT_EQ(link_->stats().unserializable, 6u);
}

TEST_F(two_nodes, an_own_codec_travels_with_its_header) {
  far_types_ = add_opaque;
  publish("opener", far().system.spawn(value_of_opaque));
  add_opaque(near().types);
  connect();
  EXPECT_EQ(ask<int>(near().system, find("opener"), opaque{7}), 7);
}

TEST_F(two_nodes, a_type_without_alias_is_refused_at_send) {
  far_types_ = [](type_registry& types) { types.add<secret>("test.secret"); };
  publish("opener", far().system.spawn(value_of_opaque));
  connect();
  auto text = text_of(ask<int>(near().system, find("opener"), secret{7}));
  EXPECT_NE(text.find("troupe::tests::secret has no alias"), std::string::npos) << text;
}

TEST_F(two_nodes, an_answer_that_cannot_be_sent_becomes_an_error_answer) {
  publish("opener", far().system.spawn([]() -> caf::behavior { return {[](int value) { return secret{value}; }}; }));
  connect();
  auto text = text_of(ask<secret>(near().system, find("opener"), 1));
  EXPECT_NE(text.find("secret has no alias"), std::string::npos) << text;
}

TEST_F(two_nodes, a_request_that_the_peer_cannot_decode_is_answered_with_the_reason) {
  publish("opener", far().system.spawn(value_of_opaque));
  near().types.add<secret>("test.secret");
  connect();
  auto text = text_of(ask<int>(near().system, find("opener"), secret{7}));
  EXPECT_EQ(text, "far has no type \"test.secret\" in its registry; add it there with types.add<T>(\"test.secret\")");
  EXPECT_EQ(far().home->links().at(0).stats().undecodable, 1u);
  EXPECT_EQ(ask<int>(near().system, find("opener"), 3), 3); // The link stays open.
}

TEST_F(two_nodes, unknown_families_in_options_are_errors_that_name_the_known_ones) {
  far();
  auto connected = try_connect(*this, *near().home, address_, {.serializers = {"typd"}});
  ASSERT_FALSE(connected);
  EXPECT_EQ(connected.error().code(), node_errc::bad_option);
  EXPECT_NE(connected.error().message().find("typd"), std::string::npos);
  EXPECT_NE(connected.error().message().find("msgpack"), std::string::npos);
}

TEST_F(two_nodes, addresses_that_cannot_be_read_or_reached_are_errors) {
  for (const auto& [address, code] : std::initializer_list<std::pair<std::string, node_errc>>{
           {"tcq://here", node_errc::bad_address},
           {"unix://relative/path", node_errc::bad_address},
           {"unix://", node_errc::bad_address},
           {"unix:///" + std::string(200, 'a'), node_errc::bad_address},
           {"unix:///nowhere/to/be/found.sock", node_errc::cannot_connect},
           {"unix://@" + unique_name("nobody-listens"), node_errc::cannot_connect}}) {
    auto connected = try_connect(*this, *near().home, address, {});
    ASSERT_FALSE(connected);
    EXPECT_EQ(connected.error().code(), code) << address << ": " << connected.error().message();
  }
}

TEST_F(two_nodes, two_nodes_cannot_listen_at_one_address) {
  far();
  near_options_.listen = {address_};
  EXPECT_THROW(near(), std::runtime_error);
}

TEST_F(two_nodes, a_socket_file_is_private_and_goes_with_its_node) {
  auto path = testing::TempDir() + unique_name("troupe") + ".sock";
  far_options_.listen = {"unix://" + path};
  far();
  EXPECT_EQ(std::filesystem::status(path).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  EXPECT_TRUE(try_connect(*this, *near().home, "unix://" + path, {}));
  far_.reset();
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(two_nodes, a_file_that_is_no_socket_is_not_replaced) {
  auto path = testing::TempDir() + unique_name("troupe") + ".txt";
  std::ofstream{path} << "precious";
  far_options_.listen = {"unix://" + path};
  EXPECT_THROW(far(), std::runtime_error);
  EXPECT_EQ(std::filesystem::file_size(path), 8u);
  std::filesystem::remove(path);
}

TEST_F(two_nodes, a_socket_file_that_a_dead_node_left_is_replaced) {
  auto path = testing::TempDir() + unique_name("troupe") + ".sock";
  auto left = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un at{.sun_family = AF_UNIX, .sun_path = {}};
  path.copy(at.sun_path, sizeof(at.sun_path) - 1);
  ASSERT_EQ(::bind(left, reinterpret_cast<const sockaddr*>(&at), sizeof(at)), 0);
  ::close(left);
  far_options_.listen = {"unix://" + path};
  far();
  EXPECT_TRUE(try_connect(*this, *near().home, "unix://" + path, {}));
}

TEST_F(two_nodes, many_arrays_of_middling_size_fit_into_one_message) {
  publish("counter", far().system.spawn([]() -> caf::behavior {
    return {[](const std::vector<std::vector<double>>& rows) { return static_cast<int>(rows.size()); }};
  }));
  for (auto* one : {&far(), &near()})
    one->types.add<std::vector<std::vector<double>>>("test.rows");
  connect({.share_store = false});
  EXPECT_EQ(ask<int>(near().system, find("counter"), std::vector(200, std::vector<double>(1000))), 200);
}

TEST_F(two_nodes, a_message_larger_than_the_peer_takes_is_refused_at_send) {
  far_options_.accepted_links.message_bytes = 1_MiB;
  publish("opener", far().system.spawn(value_of_opaque));
  connect({.share_store = false});
  auto text = text_of(ask<int>(near().system, find("opener"), std::string(2_MiB, 'x')));
  EXPECT_NE(text.find("far takes at most 1,048,576"), std::string::npos) << text;
  EXPECT_EQ(ask<int>(near().system, find("opener"), 3), 3); // The link stays open.
}

// Goal: a program whose plain messages never arrive finds in its own log which limit of which node they exceed.
TEST_F(two_nodes, a_plain_message_beyond_a_limit_of_the_peer_is_told_at_its_sender) {
  far_options_.accepted_links.message_bytes = 1_MiB;
  far_options_.accepted_links.receive_limits = limits{.header_bytes = 150, .frames = 2};
  near_types_ = far_types_ = [](type_registry& types) { types.add<widely_laid_out>("test.widely_laid_out"); };
  publish("opener", far().system.spawn(value_of_opaque));
  connect({.serializers = {"typed"}, .share_store = false});
  const auto opener = find("opener");
  ASSERT_EQ(ask<int>(near().system, opener, 3), 3);
  log_lines log{log_level::warning};
  const auto is_told = [&](const std::string& text) {
    return eventually([&] { return log.with("not sent to far: " + text) == 1; });
  };
  caf::anon_send(opener, std::string(2_MiB, 'x'));
  EXPECT_TRUE(is_told("message of 2,097,161 bytes, far takes at most 1,048,576; share a store and send it as an "
                      "object_ref, or raise message_bytes of the link at far"))
      << log.text();
  caf::anon_send(opener, std::vector<std::string>(3, std::string(200'000, 'x')));
  EXPECT_TRUE(is_told("typed: list<str>: 4 frames, limit 2 (limits::frames, in the receive_limits of far)"))
      << log.text();
  caf::anon_send(opener, widely_laid_out{});
  EXPECT_TRUE(is_told("no family of [typed] can carry 'test.widely_laid_out': its layout makes a header of 254"))
      << log.text();
  EXPECT_EQ(log.with(" bytes, limit 150 (limits::header_bytes, in the receive_limits of far)"), 1u) << log.text();
  EXPECT_EQ(link_->stats().unserializable, 3u);
  EXPECT_EQ(ask<int>(near().system, opener, 4), 4);
  EXPECT_EQ(far().home->links().at(0).stats().undecodable, 0u);
}

// -- the node that is meant --

TEST(the_peers_identity, is_proven_by_the_node_that_is_meant_and_by_no_other) {
  const std::vector<std::string> there{"unix://@" + unique_name("identity"), "tcp://127.0.0.1:0"};
  const link_options with_secret{.credentials = {.secret = "a secret of at least 16 bytes"}};
  side far{{.name = "far", .listen = there, .accepted_links = with_secret, .store = std::nullopt}};
  side near{{.name = "near", .store = std::nullopt}};
  EXPECT_EQ(far.home->identity().size(), 64u);
  EXPECT_NE(far.home->identity(), near.home->identity());
  for (const auto& address : far.home->addresses()) {
    auto wanted = with_secret;
    wanted.peer_identity = far.home->identity();
    EXPECT_TRUE(near.home->connect(address, wanted)) << address;
    wanted.peer_identity = near.home->identity();
    const auto refused = near.home->connect(address, wanted);
    ASSERT_FALSE(refused) << address;
    EXPECT_EQ(refused.error().code(), node_errc::another_peer);
    EXPECT_NE(refused.error().message().find(far.home->identity()), std::string::npos) << refused.error().message();
    EXPECT_NE(refused.error().message().find("far"), std::string::npos) << refused.error().message();
  }
}

TEST(the_peers_identity, is_asked_within_a_process_too) {
  const auto address = "inproc://" + unique_name("identity");
  side far{{.name = "far", .listen = {address}, .store = std::nullopt}};
  side near{{.name = "near", .store = std::nullopt}};
  EXPECT_TRUE(near.home->connect(address, {.peer_identity = far.home->identity()}));
  EXPECT_EQ(near.home->connect(address, {.peer_identity = near.home->identity()}).error().code(),
            node_errc::another_peer);
}

} // namespace
} // namespace troupe::tests
