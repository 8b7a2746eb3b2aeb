// Seeds for the targets that read packets of peers.
#include <array>
#include <fstream>
#include <string_view>

#include <troupe/framework/internal/trust/authentication.hpp>
#include <troupe/framework/internal/wire/handle_wire.hpp>
#include <troupe/framework/internal/wire/packet.hpp>
#include <troupe/serializers/contract.hpp>
#include <troupe/serializers/msgpack/described.hpp>

#include "decoding.hpp"
#include "seeds.hpp"
#include "wire.hpp"
#include "wire_values.hpp"

namespace fuzz {

using namespace troupe;
using namespace troupe::internal;

void write_seed(const std::filesystem::path& folder, const std::string& target, const std::string& name,
                std::span<const std::byte> input) {
  std::filesystem::create_directories(folder / target);
  std::ofstream file(folder / target / name, std::ios::binary);
  file.write(reinterpret_cast<const char*>(input.data()), static_cast<std::streamsize>(input.size()));
  expect(file.good(), "cannot write", (folder / target / name).native());
}

namespace {

bytes_view bytes_of_text(std::string_view text) {
  return std::as_bytes(std::span{text});
}

class wire_seeds {
public:
  explicit wire_seeds(const std::filesystem::path& folder) : folder_(folder) {}

  void write_all() {
    write_packets();
    write_elements();
    write_definitions();
    write_handshake();
    write_admin();
    write_handles();
    write_texts();
    for (const auto& [name, input] : wire_value_seeds())
      write(wire_part::value, name, input);
  }

private:
  void write(std::uint8_t part, const std::string& name, bytes_view bytes) {
    byte_vector input{static_cast<std::byte>(part)};
    input.insert(input.end(), bytes.begin(), bytes.end());
    write_seed(folder_, "wire", name, input);
  }
  void write(wire_part part, const std::string& name, bytes_view bytes) {
    write(static_cast<std::uint8_t>(part), name, bytes);
  }
  template <class Admin>
  void write(admin_op op, const std::string& name, const Admin& what) {
    write(part_of(op), name, msgpack::encode_described(what));
  }

  void write_packets() {
    write(wire_part::preamble, "preamble", make_preamble());
    byte_vector two;
    append_packet_head(two, {.body_bytes = 1, .kind = packet_kind::message, .detail = message_flags::request});
    two.push_back(std::byte{0});
    append_packet_head(two, {.body_bytes = 0, .kind = packet_kind::admin, .detail = 12});
    write(wire_part::packet_heads, "two_packets", two);
    byte_vector numbers;
    for (const auto value : {std::uint64_t{0}, std::uint64_t{127}, std::uint64_t{128}, UINT64_MAX >> 1, UINT64_MAX})
      append_varint(numbers, value);
    write(wire_part::numbers, "numbers", numbers);
    for (const auto flags : std::initializer_list<std::uint8_t>{0, 1, 2, 4, 10}) {
      byte_vector head{static_cast<std::byte>(flags)};
      append_message_head(head, {.flags = flags, .receiver = 12, .sender = 300, .request_number = 5, .signature = 1});
      write(wire_part::message_head, "message_head." + std::to_string(flags), head);
    }
    for (const bool first : {false, true}) {
      byte_vector head{std::byte{first}};
      append_chunk_head(head, {.transfer = 200, .total_bytes = 1 << 20}, first);
      write(wire_part::chunk_head, first ? "first_chunk" : "next_chunk", head);
    }
    // Transfer 1: 8 bytes in two chunks, and the claim of it.
    write(wire_part::transfers, "transfer",
          bytes_of_text(std::string_view{"\x49\x08"
                                         "abcd\x41\0"
                                         "efgh\x05\x08",
                                         14}));
  }

  void write_elements() {
    const auto write_element = [this](const std::string& name, const element_descriptor& element,
                                      std::string_view behind) {
      byte_vector bytes;
      append_element(bytes, element);
      const auto more = bytes_of_text(behind);
      bytes.insert(bytes.end(), more.begin(), more.end());
      write(wire_part::element, name, bytes);
    };
    const auto header = make_header({.family = "typed", .type = "i32", .schema = {}, .extra = {}});
    write_element("plain", {.header_number = 1, .frames = {{.size_bytes = 4}}}, "abcd");
    write_element("plain_of_two_bytes", {.header_number = 300, .frames = {{.size_bytes = 40}}}, std::string(40, 'a'));
    write_element("own_header", {.header_number = 0, .header = header.bytes(), .frames = {{.size_bytes = 4}}}, "abcd");
    write_element("all_places",
                  {.header_number = 1,
                   .frames = {{.size_bytes = 3},
                              {.place = frame_place::chunks, .size_bytes = 1 << 20, .transfer = 7},
                              {.place = frame_place::stored,
                               .size_bytes = 100,
                               .object_index = 9,
                               .object_generation = 2,
                               .object_offset = 64}},
                   .actors = {{.number = 300}, {.number = 5, .readers = true}},
                   .objects = 2},
                  "abc");
  }

  void write_definitions() {
    byte_vector signature;
    append_signature(signature, {.number = 1, .aliases = {"i32", "test.reading", ""}});
    write(wire_part::signature, "signature", signature);
    const auto header = make_header({.family = "msgpack", .type = "i32", .schema = {}, .extra = {}});
    byte_vector definition;
    append_header(definition, {2, header.bytes()});
    write(wire_part::header, "header", definition);
  }

  void write_handshake() {
    authentication dialer{link_side::dialer, 1, std::string(40, 'a'), "0123456789abcdef", digest{}};
    write(admin_op::greet, "greet", dialer.my_greet());
    write(admin_op::prove, "prove", prove{dialer.my_proof(proof_of::secret)});
    write(admin_op::hello, "hello",
          hello{.version = 1,
                .name = "far",
                .token = byte_vector(32, std::byte{1}),
                .serializers = {"typed", "msgpack"},
                .deserializers = {"json"},
                .message_bytes = 1 << 30,
                .store_number = 5,
                .store_slot = 1,
                .store_nonce = 77,
                .channel = 8,
                .shares_store = true,
                .tasks = 3,
                .verifies = true,
                .spawner = 4,
                .exits = true,
                .link = 9,
                .introduction_key = byte_vector(32, std::byte{2})});
    write(admin_op::ready, "ready", ready{true, byte_vector(32, std::byte{3})});
    write(admin_op::opened, "opened", opened{byte_vector(32, std::byte{4})});
    write(admin_op::refuse, "refuse", refuse{4, "another version"});
    write(admin_op::goodbye, "goodbye", goodbye{"the node ends"});
  }

  void write_admin() {
    write(admin_op::find, "find", find_query{1, "echo"});
    write(admin_op::found, "found", found{.query = 1, .actor = 12, .interface = {"i32"}, .readers = true});
    write(admin_op::name_changed, "name_changed", name_changed{"echo"});
    write(admin_op::monitor, "monitor", monitor{12});
    write(admin_op::demonitor, "demonitor", monitor{12});
    write(admin_op::down, "down", down{12, 1, "exit", "unhandled exception"});
    write(admin_op::release_actor, "release_actor", release_actor{12, 3});
    write(admin_op::release_object, "release_object", release_object{1, 2, 3});
    write(admin_op::credit, "credit", credit{12, 1 << 20});
    write(admin_op::ping, "ping", ping{});
    write(admin_op::pong, "pong", ping{});
    write(admin_op::type_refused, "type_refused",
          type_refused{"record", true, 0x12345678, contract_of(*types().find("record"))});
    write(admin_op::reconfigure, "reconfigure", family_change{1, {"typed"}, {"msgpack"}});
    write(admin_op::reconfigured, "reconfigured", reconfigured{1, "no family in common"});
    write(admin_op::introduce, "introduce",
          introduce{.number = std::uint64_t{1} << 63 | 5,
                    .hops = 1,
                    .process = 1,
                    .host = std::string(40, 'b'),
                    .link = 3,
                    .actor = 12,
                    .proof = byte_vector(32, std::byte{5})});
    write(admin_op::withdraw, "withdraw", withdraw{std::uint64_t{1} << 63 | 5});
  }

  void write_handles() {
    const handles::object_id name{77, 5, 2};
    const handles::handle_descriptor mine{name, handles::handle_mode::mine, 91'203, {}};
    const handles::handle_descriptor behind{name, handles::handle_mode::behind, 5,
                                            handles::adoption_offer{{1, 2}, {3, 4, 5}, 6}};
    const auto write_message = [this](const std::string& as, const handles::message& what) {
      const auto packet = encode_handle_message(what);
      write(part_of(packet.op), as, packet.body);
    };
    write_message("release_handle", handles::release{name, 3});
    write_message("vouch", handles::vouch{name, {4, 5}, 6});
    write_message("adopt", handles::adopt{7, name, 8});
    write_message("adopted", handles::adopted{9, behind});
    write_message("reclaim", handles::reclaim{10, name, 11});
    write_message("reclaimed", handles::reclaimed{12, name});
    write_message("pull", handles::pull{13, name});
    write_message("cancel_question", handles::cancel{14});
    write_message("pull_head", handles::pull_head{15, 16, {behind, mine}});
    write_message("pull_here", handles::pull_here{18, {name, handles::handle_mode::shared, 19, {}}});
    write_message("question_refused", handles::refused{20, handles::handle_errc::busy});
    write_message("handle_lost", handles::lost{name});
    byte_vector mentions;
    for (const auto kind : {object_mention::kind::lost, object_mention::kind::stored, object_mention::kind::counted}) {
      append_object_mention(mentions, {kind, mine});
      append_object_mention(mentions, {object_mention::kind::counted, behind});
      auto marked = behind;
      marked.mark = 91'204;
      marked.hops = 7;
      append_object_mention(mentions, {object_mention::kind::counted, marked});
      marked.home = handles::home_name{{8, 9, 10}, 11};
      append_object_mention(mentions, {object_mention::kind::counted, marked});
      auto at_home = mine;
      at_home.home = handles::home_name{mine.name, 12};
      append_object_mention(mentions, {object_mention::kind::counted, at_home});
    }
    write(wire_part::object_mentions, "object_mentions", mentions);
    byte_vector chunk;
    append_object_chunk_head(chunk, {{3, 262'144, 0}, 0x12345678});
    chunk.resize(chunk.size() + 9);
    write(wire_part::object_chunk, "object_chunk", chunk);
  }

  void write_texts() {
    for (const auto* alias : {"everything", "late", "odd", "record"})
      write(wire_part::contract, std::string{"contract."} + alias, bytes_of_text(contract_of(*types().find(alias))));
    write(wire_part::quoted_text, "quoted", bytes_of_text("a\x1b[31m\n\xe2\x80\xae\xff caf\xc3\xa9"));
    std::vector<double> numbers(1'500);
    for (std::size_t i = 0; i < numbers.size(); ++i)
      numbers[i] = static_cast<double>(i);
    context ctx;
    ctx.compression = compression::lz4;
    const auto sent = serialize_as(*types().find<std::vector<double>>(), &numbers,
                                   {.serializers = {"typed"}, .on_error = on_error::raise, .context = ctx});
    expect(sent.has_value(), "no seed", sent ? "" : sent.error().message());
    write(wire_part::codecs_of_frames, "frame_codecs", parse_header(sent->header.bytes())->frame_codecs);
  }

  const std::filesystem::path& folder_;
};

} // namespace

void write_wire_seeds(const std::filesystem::path& folder) {
  wire_seeds{folder}.write_all();
}

} // namespace fuzz
