// How a reader treats unknown parts of the protocol: the rows of the last table of framework/link-protocol.md that are
// not tested by hostile_peer, hostile_negotiation, negotiation and unread.
#include <filesystem>
#include <functional>
#include <future>
#include <map>

#include <troupe/framework/internal/words/text.hpp>

#include "raw_peer.hpp"
#include "two_nodes.hpp"

namespace troupe::tests {
namespace {

using namespace internal;

/// A message of the protocol with an unknown field.
struct longer_greet {
  std::uint32_t process = 0;
  std::string host;
  std::vector<std::byte> nonce;
  std::uint8_t method = 0;
  std::vector<std::string> dialects;
};
TROUPE_DESCRIBE(longer_greet, process, host, nonce, method, dialects)

struct longer_find {
  std::uint64_t query = 0;
  std::map<std::string, std::int32_t> hints;
  std::string name;
};
TROUPE_DESCRIBE(longer_find, query, hints, name)

/// The wire form of an exit message.
struct forged_exit {
  internal::actor_form source;
  internal::error_form reason;
};
TROUPE_DESCRIBE(forged_exit, source, reason)

int doubled(int value) {
  return 2 * value;
}

class unknown_words : public two_nodes {
protected:
  static constexpr std::uint64_t foreign = std::uint64_t{1} << 63;

  void SetUp() override {
    far_options_.accepted_links.allow_exit = true;
    far_options_.accepted_links.allow_tasks = true;
    far_types_ = near_types_ = [](type_registry& types) { types.add_function<&doubled>("doubled"); };
    echo_ = publish("echo", far().system.spawn([]() -> caf::behavior { return {[](int value) { return value; }}; }));
    // Checks whether the actor in a message is the echo itself.
    publish("porter", far().system.spawn([this]() -> caf::behavior {
      return {[this](const caf::actor& who) { knows_ = who == echo_ ? 1 : 0; }};
    }));
    publish("curious", far().system.spawn([](caf::event_based_actor* self) -> caf::behavior {
      return {[self](const caf::actor& whom) { self->request(whom, caf::infinite, 1).then([](int) {}); }};
    }));
  }

  void TearDown() override {
    connect({.serializers = {"typed"}});
    EXPECT_EQ(ask<int>(near().system, find("echo"), 5), 5) << "others are not served any more";
  }

  std::uint64_t find_actor(const std::string& name) {
    peer_->write_admin(admin_op::find, find_query{1, name});
    auto answer = peer_->hear<found>(admin_op::found);
    return answer ? answer->actor : 0;
  }

  raw_peer& open_peer() {
    peer_.emplace(address_);
    peer_->prove_itself();
    peer_->say(admin_op::hello, raw_peer::honest_hello());
    if (auto theirs = peer_->hear<hello>(admin_op::hello))
      far_hello_ = *theirs;
    peer_->say(admin_op::ready, ready{false, {}});
    EXPECT_TRUE(peer_->hear<opened>(admin_op::opened));
    return *peer_;
  }

  void expect_alive() {
    peer_->write_admin(admin_op::ping, ping{});
    EXPECT_TRUE(peer_->hear<ping>(admin_op::pong));
  }

  template <class T>
  payload encoded(const T& value, const std::string& alias) {
    type_registry own;
    own.add<T>(alias);
    auto made = serialize(value, {.serializers = {"typed"}}, own, far().families);
    EXPECT_TRUE(made);
    return *std::move(made);
  }

  /// Sends a message with one value, of signature 0.
  void send(const message_head& head, const payload& value, std::vector<actor_mention> actors = {}) {
    byte_vector message;
    append_message_head(message, head);
    append_element(message, {.header_number = 0,
                             .header = value.header.bytes(),
                             .frames = {{.size_bytes = value.frames[0].size_bytes()}},
                             .actors = std::move(actors)});
    const auto body = value.frames[0].bytes();
    message.insert(message.end(), body.begin(), body.end());
    peer_->write_packet(packet_kind::message, head.flags, message);
  }

  /// Returns a payload with an actor, given by the index of its mention.
  payload handle(std::uint32_t place) { return encoded(internal::actor_form{place}, "caf.actor"); }

  introduce introduction(std::uint64_t number) {
    return {.number = number,
            .hops = 1,
            .process = 9,
            .host = std::string(40, 'c'),
            .link = 3,
            .actor = 12,
            .proof = byte_vector(32, std::byte{1})};
  }

  /// Introduces an actor of far's own, with the proof that far's hello makes possible.
  introduce introduction_of_own(std::uint64_t number, std::uint64_t actor) {
    const auto& id = static_cast<const caf::node_id::default_data&>(*far().system.node());
    auto what = introduction(number);
    what.process = id.process_id();
    what.host = hex(std::as_bytes(std::span{id.host_id()}));
    what.link = far_hello_.link;
    what.actor = actor;
    byte_vector text;
    for (const auto each : std::string_view{"troupe introduction"})
      text.push_back(static_cast<std::byte>(each));
    for (unsigned i = 0; i < 8; ++i)
      text.push_back(static_cast<std::byte>(actor >> (8 * i) & 0xff));
    const auto proof = hmac_sha256(far_hello_.introduction_key, text);
    what.proof = {proof.begin(), proof.end()};
    return what;
  }

  void expect_refused_introduction(const introduce& what, std::string_view why) {
    open_peer().write_admin(admin_op::introduce, what);
    expect_contains(peer_->farewell(), why);
  }

  std::optional<raw_peer> peer_;
  hello far_hello_;
  caf::actor echo_;
  std::atomic<int> knows_{-1};
};

// -- packets

TEST_F(unknown_words, a_reserved_field_that_is_not_zero_ends_the_link) {
  auto head = packet_head_of({.body_bytes = 0, .kind = packet_kind::admin, .detail = 12});
  head[6] = std::byte{1};
  open_peer().write(head);
  EXPECT_EQ(peer_->farewell(), "a packet's reserved bytes are 1, not zero");
  EXPECT_TRUE(eventually([&] { return far().home->links().empty(); }));
}

TEST_F(unknown_words, a_body_larger_than_any_ends_the_link_before_it_has_come) {
  open_peer().write(packet_head_of({.body_bytes = packet_body_bytes_max + 1, .kind = packet_kind::chunk, .detail = 1}));
  EXPECT_EQ(peer_->farewell(),
            "a packet of " + grouped(packet_body_bytes_max + 1) + " bytes, limit " + grouped(packet_body_bytes_max));
  EXPECT_TRUE(eventually([&] { return far().home->links().empty(); }));
}

TEST_F(unknown_words, a_ping_or_pong_that_cannot_be_read_ends_the_link) {
  for (const auto op : {admin_op::ping, admin_op::pong})
    for (const auto* body : {"", "\xc1", "\x93\x01\x02\x03", "\x80\x80"}) {
      open_peer().write_packet(packet_kind::admin, static_cast<std::uint8_t>(op),
                               byte_vector(bytes_of(body).begin(), bytes_of(body).end()));
      expect_contains(peer_->farewell(), "admin message " + std::to_string(static_cast<int>(op)) + " cannot be read");
    }
}

TEST_F(unknown_words, of_an_element_that_cannot_be_read_the_reason_says_what_is_wrong) {
  const auto refused = [&](const std::function<void(byte_vector&)>& append) {
    open_peer().define_signature({"i32"});
    byte_vector message;
    append_message_head(message, {.receiver = find_actor("echo"), .signature = 0});
    append(message);
    peer_->write_packet(packet_kind::message, 0, message);
    auto text = peer_->farewell();
    const std::string begin = "an element's description cannot be read: ";
    expect_contains(text, begin);
    return text.substr(std::min(text.size(), text.find(begin) + begin.size()));
  };
  const auto varints = [](std::vector<std::uint64_t> numbers) {
    return [numbers](byte_vector& to) {
      for (const auto each : numbers)
        append_varint(to, each);
    };
  };
  EXPECT_EQ(refused(varints({1})), "the bytes end within it, or a number is not in its shortest spelling");
  EXPECT_EQ(refused(varints({0, 1 << 20})),
            "bytes of a payload's header (receive_limits.header_bytes): 1,048,576, limit 65,536");
  EXPECT_EQ(refused(varints({1, 1 << 20})), "frames (receive_limits.frames): 1,048,576, limit 65,536");
  EXPECT_EQ(refused(varints({1, 1, 3})), "the place of a frame: 3, limit 2");
  EXPECT_EQ(refused(varints({1, 1, 2, std::uint64_t{1} << 32, 0, 0})),
            "the index of a stored frame: 4,294,967,296, limit 4,294,967,295");
  EXPECT_EQ(refused(varints({1, 0, 200'000})), "actors mentioned: 100,000, limit 65,536");
  EXPECT_EQ(refused(varints({1, 0, 1, 0})), "it says that it mentions objects, and mentions none");
  EXPECT_EQ(refused(varints({1, 0, 2, 2, 1})), "the side of an actor that is mentioned: 2, limit 1");
}

TEST_F(unknown_words, an_unknown_flag_of_a_message_ends_the_link) {
  open_peer().define_signature({});
  byte_vector message;
  append_message_head(message, {.receiver = find_actor("echo"), .signature = 0});
  peer_->write_packet(packet_kind::message, 32, message);
  expect_contains(peer_->farewell(), "a message has flags 32, which are mandatory");
}

TEST_F(unknown_words, an_unknown_flag_of_a_chunk_ends_the_link) {
  open_peer().write_packet(packet_kind::chunk, 2, {});
  expect_contains(peer_->farewell(), "a chunk has flags 2, which are mandatory");
}

TEST_F(unknown_words, an_unknown_detail_of_a_definition_ends_the_link) {
  for (auto kind : {packet_kind::signature, packet_kind::header}) {
    open_peer().write_packet(kind, 1, {});
    expect_contains(peer_->farewell(), "has flags 1, which are mandatory");
  }
}

TEST_F(unknown_words, an_unknown_place_of_a_frame_ends_the_link) {
  open_peer().define_signature({"i32"});
  byte_vector message;
  append_message_head(message, {.receiver = find_actor("echo"), .signature = 0});
  append_element(message, {.header_number = 1, .frames = {{.place = static_cast<frame_place>(3), .size_bytes = 1}}});
  peer_->write_packet(packet_kind::message, 0, message);
  expect_contains(peer_->farewell(), "an element's description cannot be read: the place of a frame: 3, limit 2");
}

// -- the handshake

TEST_F(unknown_words, an_unknown_method_is_refused) {
  raw_peer peer{address_};
  peer.write(make_preamble());
  auto mine = peer.proofs().my_greet();
  mine.method = 2;
  peer.say(admin_op::greet, mine);
  expect_contains(peer.farewell(), "that this node does not know");
}

TEST_F(unknown_words, a_nonce_of_another_length_is_refused) {
  for (const std::size_t length : {0, 31, 33}) {
    raw_peer peer{address_};
    peer.write(make_preamble());
    auto mine = peer.proofs().my_greet();
    mine.nonce.resize(length);
    peer.say(admin_op::greet, mine);
    expect_contains(peer.farewell(), "the peer's nonce has " + std::to_string(length) + " bytes instead of 32");
  }
}

TEST_F(unknown_words, a_token_of_another_length_is_refused) {
  for (const std::size_t length : {31, 33}) {
    raw_peer peer{address_};
    peer.prove_itself();
    auto mine = raw_peer::honest_hello();
    mine.token.resize(length);
    peer.say(admin_op::hello, mine);
    expect_contains(peer.farewell(), "without proof that it is that node");
  }
}

TEST_F(unknown_words, unknown_fields_of_the_handshake_are_skipped) {
  peer_.emplace(address_);
  peer_->write(make_preamble());
  const auto mine = peer_->proofs().my_greet();
  peer_->say(admin_op::greet, longer_greet{mine.process, mine.host, mine.nonce, mine.method, {"a", "b"}});
  EXPECT_TRUE(peer_->hear<greet>(admin_op::greet));
}

// -- admin messages

TEST_F(unknown_words, unknown_fields_are_skipped) {
  open_peer().write_admin(admin_op::find, longer_find{7, {{"depth", 3}}, "echo"});
  const auto answer = peer_->hear<found>(admin_op::found);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->query, 7u);
  EXPECT_NE(answer->actor, 0u);
}

TEST_F(unknown_words, words_of_the_handshake_are_out_of_place_on_an_open_link) {
  for (auto op : {admin_op::hello, admin_op::ready, admin_op::greet, admin_op::prove, admin_op::opened}) {
    open_peer().write_packet(packet_kind::admin, static_cast<std::uint8_t>(op), {});
    expect_contains(peer_->farewell(), "is out of place on an open link");
  }
}

TEST_F(unknown_words, an_actor_that_is_found_and_was_never_given_ends_the_link) {
  open_peer();
  ASSERT_TRUE(eventually([&] { return !far().home->links().empty(); }));
  auto asking =
      std::async(std::launch::async, [over = far().home->links().at(0)]() mutable { return over.find("who"); });
  const auto asked = peer_->hear<find_query>(admin_op::find);
  ASSERT_TRUE(asked);
  peer_->write_admin(admin_op::found, found{.query = asked->query, .actor = 12'345, .interface = {}, .readers = true});
  expect_contains(peer_->farewell(), "names actor 12,345, which it was never given");
  EXPECT_FALSE(asking.get());
}

// -- introductions

TEST_F(unknown_words, an_introduction_that_cannot_be_ends_the_link) {
  expect_refused_introduction(introduction(5), "introduces an actor that is its own");
  auto what = introduction(foreign | 5);
  what.hops = 0;
  expect_refused_introduction(what, "or 0 nodes away");
  what.hops = 17;
  expect_refused_introduction(what, "or 17 nodes away, limit 16");
  what = introduction(foreign | 5);
  what.proof.resize(31);
  expect_refused_introduction(what, "introduces an actor");
  what = introduction(foreign | 5);
  what.host.resize(39);
  expect_refused_introduction(what, "a host of 39 digits instead of 40");
}

TEST_F(unknown_words, a_number_that_is_introduced_twice_ends_the_link) {
  open_peer().write_admin(admin_op::introduce, introduction(foreign | 5));
  expect_alive();
  peer_->write_admin(admin_op::introduce, introduction(foreign | 5));
  expect_contains(peer_->farewell(), "two actors under one number");
}

TEST_F(unknown_words, a_withdrawal_of_what_was_not_introduced_ends_the_link) {
  open_peer().write_admin(admin_op::introduce, introduction(foreign | 5));
  peer_->write_admin(admin_op::withdraw, withdraw{foreign | 5});
  expect_alive();
  peer_->write_admin(admin_op::withdraw, withdraw{foreign | 5});
  expect_contains(peer_->farewell(), "that it has not introduced");
}

// Goal: if a peer introduces this node's own actor without having received it here, it gets no access to the actor.
TEST_F(unknown_words, an_introduction_whose_proof_is_wrong_is_that_of_somebody_elses_actor) {
  open_peer().define_signature({"caf.actor"});
  const auto echo = find_actor("echo");
  const auto porter = find_actor("porter");
  auto what = introduction_of_own(foreign | 5, echo);
  what.proof[0] ^= std::byte{1};
  peer_->write_admin(admin_op::introduce, what);
  send({.receiver = porter, .signature = 0}, handle(1), {{.number = foreign | 5}});
  EXPECT_TRUE(eventually([&] { return knows_ == 0; }));
  peer_->write_admin(admin_op::introduce, introduction_of_own(foreign | 6, echo));
  send({.receiver = porter, .signature = 0}, handle(1), {{.number = foreign | 6}});
  EXPECT_TRUE(eventually([&] { return knows_ == 1; })) << "a right proof is not recognized";
}

// -- messages

TEST_F(unknown_words, an_exit_message_as_a_request_ends_the_link) {
  open_peer().define_signature({"caf.exit"});
  const auto exit = encoded(forged_exit{{}, {.code = 1, .category = "exit", .context = {}}}, "caf.exit");
  send({.flags = message_flags::request, .receiver = find_actor("echo"), .sender = 7, .request_number = 1}, exit);
  expect_contains(peer_->farewell(), "as a request or an answer");
}

TEST_F(unknown_words, an_exit_message_as_an_answer_ends_the_link) {
  open_peer().define_signature({"caf.actor"});
  send({.receiver = find_actor("curious"), .signature = 0}, handle(1), {{.number = 7}});
  message_head asked;
  while (auto packet = peer_->next_packet()) {
    if (packet->head.kind != packet_kind::message)
      continue;
    packet_reader in{packet->body};
    asked = read_message_head(in, packet->head.detail);
    break;
  }
  ASSERT_EQ(asked.receiver, 7u);
  peer_->define_signature({"caf.exit"}, 1);
  const auto exit = encoded(forged_exit{{}, {.code = 1, .category = "exit", .context = {}}}, "caf.exit");
  send({.flags = message_flags::response,
        .receiver = asked.sender,
        .sender = 7,
        .request_number = asked.request_number,
        .signature = 1},
       exit);
  expect_contains(peer_->farewell(), "as a request or an answer");
}

TEST_F(unknown_words, an_alias_without_any_character_is_unknown_like_any_other) {
  open_peer().define_signature({""});
  send({.receiver = find_actor("echo"), .signature = 0}, encoded(5, "i32"));
  const auto told = peer_->hear<type_refused>(admin_op::type_refused);
  ASSERT_TRUE(told);
  EXPECT_EQ(told->alias, "");
  EXPECT_FALSE(told->is_known);
  EXPECT_EQ(far().home->links().at(0).stats().undecodable, 1u);
}

// Goal: a peer that may end actors and run tasks cannot end the actor that runs tasks for the peers of all links.
TEST_F(unknown_words, an_exit_message_does_not_end_who_runs_tasks) {
  open_peer().define_signature({"caf.exit"});
  ASSERT_NE(far_hello_.tasks, 0u);
  const auto kill = encoded(forged_exit{{}, {.code = 2, .category = "exit", .context = {}}}, "caf.exit");
  send({.receiver = far_hello_.tasks, .signature = 0}, kill);
  EXPECT_TRUE(eventually([&] { return far().home->links().at(0).stats().undelivered == 1; }));
  connect({.serializers = {"typed"}});
  EXPECT_EQ(link_->submit(fn_ref<&doubled>, 4).get(10s), 8);
}

TEST_F(unknown_words, a_payload_that_names_an_actor_which_its_element_does_not_mention_is_not_delivered) {
  open_peer().define_signature({"caf.actor"});
  const auto porter = find_actor("porter");
  send({.receiver = porter, .signature = 0}, handle(2), {{.number = 7}});
  EXPECT_TRUE(eventually([&] {
    auto links = far().home->links();
    return links.size() == 1 && links[0].stats().undecodable == 1;
  }));
  EXPECT_EQ(knows_, -1);
  send({.receiver = porter, .signature = 0}, handle(1), {{.number = 7}});
  EXPECT_TRUE(eventually([&] { return knows_ == 0; })) << "the link has ended";
}

/// The peer shares the store, and objects may be spilled to disk.
class unknown_objects : public two_nodes {
protected:
  void SetUp() override {
    far_options_.store =
        store::options{.name = store_, .capacity_bytes = 1_MiB, .spill_directory = spilled_, .full_grace = 10s};
    near_options_.store = std::nullopt;
    publish("echo", far().system.spawn([]() -> caf::behavior { return {[](int value) { return value; }}; }));
  }
  void TearDown() override {
    far_.reset();
    std::filesystem::remove_all(spilled_);
  }

  [[nodiscard]] static bool is_spilled(store::object_store& in, const store::object_id& object) {
    const auto found = in.summary();
    const auto is_it = [&](const auto& each) {
      return each.id == object && each.state == store::object_state::spilled;
    };
    return found && std::ranges::any_of(found->rows, is_it);
  }

  const std::filesystem::path spilled_ = std::filesystem::temp_directory_path() / store_;
};

// Goal: a peer that repeats another process's hello on a second link does not share the store.
TEST_F(unknown_objects, are_not_shared_with_who_says_again_what_another_has_said) {
  auto own = store::object_store::open(**far_options_.store);
  ASSERT_TRUE(own) << own.error().message();
  raw_peer first{address_}, second{address_};
  first.prove_itself();
  second.prove_itself();
  const auto said = first.hello_of(*own);
  second.say(admin_op::hello, said);
  const auto to_second = second.hear<hello>(admin_op::hello);
  ASSERT_TRUE(to_second);
  EXPECT_FALSE(to_second->shares_store);
  second.reset();
  first.say(admin_op::hello, said);
  const auto to_first = first.hear<hello>(admin_op::hello);
  ASSERT_TRUE(to_first);
  EXPECT_TRUE(to_first->shares_store);
}

// Method: the object is on disk when its message arrives, and its file is gone.
TEST_F(unknown_objects, that_were_handed_over_and_cannot_be_had_lose_their_message_only) {
  constexpr std::uint64_t channel = 2;
  auto own = store::object_store::open(**far_options_.store);
  ASSERT_TRUE(own) << own.error().message();
  raw_peer peer{address_};
  peer.prove_itself();
  auto mine = peer.hello_of(*own);
  mine.channel = channel;
  peer.say(admin_op::hello, mine);
  const auto theirs = peer.hear<hello>(admin_op::hello);
  ASSERT_TRUE(theirs && theirs->shares_store);
  peer.say(admin_op::ready, ready{true, {}});
  ASSERT_TRUE(peer.hear<opened>(admin_op::opened));
  const auto object = own->put(byte_vector(300'000));
  ASSERT_TRUE(object && object->hand_over({theirs->store_slot, theirs->store_nonce}, channel));
  std::vector<store::handle> others;
  while (!is_spilled(*own, object->id()) && others.size() < 100)
    if (auto one = own->put(byte_vector(300'000)))
      others.push_back(*std::move(one));
  ASSERT_TRUE(is_spilled(*own, object->id()));
  others.clear();
  std::error_code gone; // Other files disappear meanwhile.
  for (const auto& file : std::filesystem::recursive_directory_iterator(spilled_))
    if (file.is_regular_file(gone))
      std::filesystem::resize_file(file.path(), 0, gone);

  peer.write_admin(admin_op::find, find_query{1, "echo"});
  const auto echo = peer.hear<found>(admin_op::found);
  ASSERT_TRUE(echo);
  peer.define_signature({"i32"});
  const auto header = make_header({.family = "typed", .type = "i32", .schema = {}, .extra = {}});
  byte_vector message;
  append_message_head(message, {.receiver = echo->actor, .signature = 0});
  append_element(message, {.header_number = 0,
                           .header = header.bytes(),
                           .frames = {{.place = frame_place::stored,
                                       .size_bytes = 4,
                                       .object_index = object->id().index,
                                       .object_generation = object->id().generation}}});
  peer.write_packet(packet_kind::message, 0, message);
  EXPECT_TRUE(eventually([&] {
    auto links = far().home->links();
    return links.size() == 1 && links[0].stats().undecodable == 1;
  }));
  const auto released = peer.hear<release_object>(admin_op::release_object);
  ASSERT_TRUE(released) << "the link has ended";
  EXPECT_EQ(released->count, 1u); // It was received nevertheless.
  peer.write_admin(admin_op::ping, ping{});
  EXPECT_TRUE(peer.hear<ping>(admin_op::pong)) << "the link has ended";
}

/// The far end asks for a secret.
class unknown_proofs : public two_nodes {
protected:
  static constexpr const char* key = "0123456789abcdef";

  void SetUp() override {
    far_options_.listen = {"tcp://127.0.0.1:0"};
    far_options_.accepted_links.credentials.secret = key;
    far();
  }
};

TEST_F(unknown_proofs, of_another_length_are_refused) {
  for (const std::size_t length : {0, 31, 33}) {
    raw_peer peer{address_, key};
    peer.greet();
    EXPECT_TRUE(peer.hear<greet>(admin_op::greet));
    peer.proofs().said.add_session({});
    auto proof = peer.proofs().my_proof(proof_of::secret);
    proof.resize(length);
    peer.say(admin_op::prove, prove{proof});
    expect_contains(peer.farewell(), "do not have the same shared secret");
  }
}

TEST_F(unknown_proofs, of_another_length_are_refused_in_the_end_too) {
  for (const std::size_t length : {0, 31, 33}) {
    raw_peer peer{address_, key};
    peer.prove_itself();
    peer.say(admin_op::hello, raw_peer::honest_hello());
    EXPECT_TRUE(peer.hear<hello>(admin_op::hello));
    auto proof = peer.proofs().my_proof(proof_of::agreement);
    proof.resize(length);
    peer.say(admin_op::ready, ready{false, proof});
    expect_contains(peer.farewell(), "the handshake was changed in transit");
  }
}

} // namespace
} // namespace troupe::tests
