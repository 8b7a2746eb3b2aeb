// Fuzzes what a link reads before it can act on it: packets, definitions, elements, admin messages, and texts of a peer
// that are shown to people. wire.hpp lists the parts.
#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include <troupe/framework/internal/wire/handle_wire.hpp>
#include <troupe/framework/internal/wire/message_extensions.hpp>
#include <troupe/framework/internal/wire/message_trace.hpp>
#include <troupe/framework/internal/wire/packet.hpp>
#include <troupe/framework/internal/wire/request_identity.hpp>
#include <troupe/framework/internal/wire/transfers.hpp>
#include <troupe/framework/internal/words/text.hpp>
#include <troupe/serializers/compressed.hpp>
#include <troupe/serializers/contract.hpp>
#include <troupe/serializers/msgpack/described.hpp>

#include "decoding.hpp"
#include "wire.hpp"
#include "wire_values.hpp"

namespace {

using namespace troupe;
using namespace troupe::internal;
using fuzz::expect;
using fuzz::wire_part;

/// Expects what was read to equal what was written: each value has one spelling.
void expect_same(bytes_view written, bytes_view read, std::string_view what) {
  expect(std::ranges::equal(written, read), "has a second spelling", what);
}

bytes_view read_so_far(bytes_view all, const packet_reader& in) {
  return all.first(all.size() - in.rest().size());
}

/// Removes the first byte of an input and returns it.
std::uint8_t take_byte(bytes_view& bytes) {
  if (bytes.empty())
    return 0;
  const auto first = static_cast<std::uint8_t>(bytes[0]);
  bytes = bytes.subspan(1);
  return first;
}

void preamble(bytes_view bytes) {
  if (bytes.size() < preamble_bytes)
    return;
  const auto version = read_preamble(bytes.first<preamble_bytes>());
  const auto own = make_preamble();
  const auto is_magic = std::ranges::equal(bytes.first(6), std::span{own}.first(6));
  expect(version.has_value() == is_magic, "a preamble is mistaken");
  expect((version == protocol_version) == std::ranges::equal(bytes.first(preamble_bytes), own),
         "a version is mistaken");
}

void packet_heads(bytes_view bytes) {
  while (bytes.size() >= packet_head_bytes) {
    const auto head = read_packet_head(bytes.first<packet_head_bytes>());
    expect_same(packet_head_of(head), bytes.first(packet_head_bytes), "packet head");
    bytes = bytes.subspan(packet_head_bytes);
    bytes = bytes.subspan(std::min<std::size_t>(bytes.size(), head.body_bytes));
  }
}

void numbers(bytes_view bytes) {
  packet_reader in{bytes};
  byte_vector again;
  std::size_t read = 0;
  while (in.ok() && !in.finished()) {
    const auto value = in.varint();
    if (!in.ok())
      break;
    append_varint(again, value);
    read = bytes.size() - in.rest().size();
  }
  expect_same(again, bytes.first(read), "number");
}

/// Reads the map's entries about a trace, and passes the map on as a forwarder does.
void trace(bytes_view map) {
  const auto [context, sent_at] = read_trace(map);
  if (context) {
    expect(context->tracestate().size() <= tracestate_bytes_max && context->baggage().size() <= baggage_bytes_max,
           "a context exceeds its bounds");
    expect(trace_context::parse(context->traceparent(), context->tracestate(), context->baggage()) == context,
           "a context is not read as it was written");
  }
  for (const auto takes_traces : {false, true}) {
    const auto next = map_for_next_link(map, {.takes_traces = takes_traces, .span = span_id{std::byte{1}}});
    expect(next.empty() || is_extension_map(next), "a forwarded map is none");
    expect(!has_trace(next) || takes_traces, "a trace goes to a peer that does not take it");
    if (takes_traces && context)
      expect(
          read_trace(next).context ==
              [&, own = context->with_span({std::byte{1}})]() mutable {
                static_cast<void>(own.set_baggage({}));
                return own;
              }(),
          "a forwarded trace has changed");
  }
}

void identity(bytes_view map) {
  const auto read = read_request_identity(map);
  if (!read)
    return;
  expect(read->key.number > 0 && read->age.count() >= 0, "an identity is out of its bounds");
  byte_vector again;
  append_request_identity(again, *read);
  const auto twice = read_request_identity(again);
  expect(twice && twice->key == read->key && twice->settled_below == read->settled_below && twice->age == read->age,
         "an identity is not read as it was written");
}

void message_head(bytes_view bytes) {
  const auto flags = take_byte(bytes);
  packet_reader in{bytes};
  const auto head = read_message_head(in, flags);
  if (!in.ok())
    return;
  byte_vector again;
  append_message_head(again, head);
  expect_same(again, read_so_far(bytes, in), "message head");
  expect(head.request_number <= request_number_max, "a request number with flags in it");
  if (!head.extensions.empty())
    trace(head.extensions);
  identity(head.extensions);
}

bool looks_plain(const element_descriptor& read, bytes_view behind) {
  constexpr std::uint64_t two_byte_numbers = 1u << 14;
  if (read.header_number == 0 || read.header_number >= two_byte_numbers || read.frames.size() != 1
      || !read.actors.empty() || read.objects != 0)
    return false;
  const auto& frame = read.frames[0];
  return frame.place == frame_place::inline_ && frame.size_bytes << frame_place_bits < two_byte_numbers
         && frame.size_bytes <= behind.size();
}

void element(bytes_view bytes) {
  constexpr element_limits limits{
      .header_bytes_max = 4'096, .frames_max = 64, .actors_max = 64, .frame_bytes_max = UINT64_MAX >> 2};
  packet_reader in{bytes};
  element_descriptor read;
  fuzz::allocations during;
  read_element(in, read, limits);
  expect(during.stop() <= 64_KiB, "an element's description takes more than its limits");
  packet_reader at_once{bytes};
  const auto plain = read_plain_element(at_once);
  expect(plain.has_value() == (in.ok() && looks_plain(read, in.rest())), "plain elements are those that look plain");
  if (!in.ok())
    return;
  byte_vector again;
  append_element(again, read);
  expect_same(again, read_so_far(bytes, in), "element");
  if (!plain) {
    expect(at_once.rest().size() == bytes.size(), "something of an element that is not plain was read");
    return;
  }
  expect(plain->header_number == read.header_number && plain->body.data() == in.rest().data()
             && plain->body.size() == read.frames[0].size_bytes
             && at_once.rest().size() + plain->body.size() == in.rest().size(),
         "a plain element reads as another one");
}

void chunk_head(bytes_view bytes) {
  const auto first = (take_byte(bytes) & chunk_flags::first) != 0;
  packet_reader in{bytes};
  const auto head = read_chunk_head(in, first);
  if (!in.ok())
    return;
  byte_vector again;
  append_chunk_head(again, head, first);
  expect_same(again, read_so_far(bytes, in), "chunk head");
}

void object_mentions(bytes_view bytes) {
  packet_reader in{bytes};
  byte_vector again;
  while (in.ok() && !in.rest().empty()) {
    const auto mention = read_object_mention(in);
    if (!in.ok())
      return;
    const auto before = again.size();
    append_object_mention(again, mention);
    expect(again.size() - before <= object_mention_bytes_max, "a description of an object is too long");
  }
  expect_same(again, bytes, "object mention");
}

void object_chunk(bytes_view bytes) {
  packet_reader in{bytes};
  const auto head = read_object_chunk_head(in);
  if (!in.ok())
    return;
  byte_vector again;
  append_object_chunk_head(again, head);
  expect_same(again, read_so_far(bytes, in), "object chunk");
  expect(head.what.size_bytes == in.rest().size(), "a chunk of an object has another size");
}

void header(bytes_view bytes) {
  const auto definition = read_header(bytes);
  if (!definition)
    return;
  byte_vector again;
  append_header(again, *definition);
  expect_same(again, bytes, "header definition");
}

void signature(bytes_view bytes) {
  fuzz::allocations during;
  const auto definition = read_signature(bytes);
  expect(during.stop() <= 32_KiB + 4 * bytes.size(), "a signature takes more than its aliases");
  if (!definition)
    return;
  byte_vector again;
  append_signature(again, *definition);
  expect_same(again, bytes, "signature");
}

/// Compares chunks and claims with the expected bytes. A step is one byte, then a byte of size. Bits 0 and 1 of the
/// step are the transfer's number, bit 2 means a claim, bit 3 the first chunk.
class transfer_story {
public:
  void step(std::uint8_t what, std::uint8_t size, bytes_view bytes) {
    const auto number = what % 4u;
    if ((what & 4) != 0)
      claim(number, size);
    else
      add(number, (what & 8) != 0, size, bytes.first(std::min<std::size_t>(bytes.size(), what >> 4)));
    std::size_t living = 0;
    for (const auto& each : sizes_)
      living += each.second;
    expect(tested_.living_bytes() == living, "transfers are counted wrongly");
  }

private:
  static constexpr std::size_t total_bytes_max = 400;

  void add(std::uint64_t number, bool first, std::size_t size, bytes_view bytes) {
    std::size_t all = first ? size : 0;
    for (const auto& each : sizes_)
      all += each.second;
    const auto is_known = sizes_.contains(number);
    auto& filled = bytes_[number];
    const auto fits = first ? !is_known && all <= total_bytes_max && bytes.size() <= size
                            : is_known && filled.size() + bytes.size() <= sizes_[number];
    const auto whole = first ? size : is_known ? sizes_[number] : 0;
    const auto done = tested_.add_chunk({number, size}, first, bytes).has_value();
    expect(done == (fits && (!bytes.empty() || whole == 0)), "a chunk is taken or refused wrongly");
    if (first && !is_known && all <= total_bytes_max)
      sizes_[number] = size, filled.clear();
    if (done)
      filled.insert(filled.end(), bytes.begin(), bytes.end());
  }

  void claim(std::uint64_t number, std::size_t size) {
    const auto is_whole = sizes_.contains(number) && sizes_[number] == size && bytes_[number].size() == size;
    const auto claimed = tested_.claim(number, size);
    expect(claimed.has_value() == is_whole, "a transfer is claimed or refused wrongly");
    if (!claimed)
      return;
    expect_same(claimed->bytes(), bytes_[number], "transfer");
    sizes_.erase(number);
    bytes_.erase(number);
  }

  transfers tested_{{.frame_bytes_max = 250, .total_bytes_max = total_bytes_max, .count_max = 4}};
  std::map<std::uint64_t, std::size_t> sizes_;
  std::map<std::uint64_t, byte_vector> bytes_;
};

void whole_transfers(bytes_view bytes) {
  transfer_story story;
  while (!bytes.empty()) {
    const auto what = take_byte(bytes);
    const auto size = std::min<std::uint8_t>(take_byte(bytes), 250);
    story.step(what, size, bytes);
    bytes = bytes.subspan(std::min<std::size_t>(bytes.size(), (what & 4) != 0 ? 0 : what >> 4));
  }
}

/// Does the same as link_core with a peer's contract of a type.
void contract(bytes_view bytes) {
  const std::string theirs{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  static const auto own = [] {
    std::vector<std::string> all;
    for (const auto* alias : {"everything", "late", "odd", "record"})
      all.push_back(contract_of(*fuzz::types().find(alias)));
    return all;
  }();
  bool can_be_read = false;
  for (const auto& mine : own)
    can_be_read = find_unreadable(mine, theirs).has_value();
  const auto same = compare_contracts(theirs, theirs);
  expect(same.has_value() == can_be_read, "a contract can be read now and then");
  expect(!same || same->empty(), "a contract differs from itself", theirs);
}

void codecs_of_frames(bytes_view bytes) {
  expect(decompressed_bytes(bytes) <= std::uint64_t{1} << 48, "frames become too large");
}

void quoted_text(bytes_view bytes) {
  constexpr std::size_t bytes_max = 64;
  const std::string_view theirs{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  const auto text = one_line(theirs, bytes_max);
  expect(text.size() <= bytes_max, "a quoted text is too long");
  expect(std::ranges::all_of(text, [](unsigned char each) { return each >= 0x20 && each != 0x7f; }),
         "a quoted text steers a terminal");
  expect(one_line(text, bytes_max) == text, "a quoted text changes when it is quoted again");
}

// -- admin messages

template <class Admin>
void admin(bytes_view bytes) {
  const auto limits = fuzz::bounds();
  fuzz::allocations during;
  const auto read = msgpack::decode_described<Admin>(bytes, limits);
  expect(during.stop() <= limits.memory_free_bytes + limits.memory_ratio * bytes.size() + 24_KiB,
         "an admin message takes more than its limits");
  if (!read)
    return;
  const auto written = msgpack::encode_described(*read);
  expect(!written.empty(), "an admin message that was read cannot be written");
  const auto again = msgpack::decode_described<Admin>(written);
  expect(again.has_value(), "an admin message that was written cannot be read");
  expect_same(msgpack::encode_described(*again), written, "admin message");
}

template <admin_op Op>
void about_handles(bytes_view bytes) {
  const auto limits = fuzz::bounds();
  fuzz::allocations during;
  const auto read = decode_handle_message(Op, bytes, limits);
  expect(during.stop() <= 2 * (limits.memory_free_bytes + limits.memory_ratio * bytes.size()) + 24_KiB,
         "a message about handles takes more than its limits");
  if (!read)
    return;
  const auto written = encode_handle_message(*read);
  expect(written.op == Op, "a message about handles is another one");
  const auto again = decode_handle_message(Op, written.body, {});
  expect(again.has_value(), "a message about handles that was written cannot be read");
  expect_same(encode_handle_message(*again).body, written.body, "message about handles");
}

using decoder = void (*)(bytes_view);

constexpr std::array<decoder, 15> parts{preamble,         packet_heads,    numbers,          message_head,
                                        element,          chunk_head,      header,           signature,
                                        whole_transfers,  contract,        codecs_of_frames, quoted_text,
                                        fuzz::wire_value, object_mentions, object_chunk};
static_assert(parts.size() == static_cast<std::size_t>(wire_part::object_chunk) + 1);

/// Indexed by admin_op, from 1.
constexpr std::array<decoder, 34> operations{admin<hello>,
                                             admin<ready>,
                                             admin<refuse>,
                                             admin<goodbye>,
                                             admin<find_query>,
                                             admin<found>,
                                             admin<monitor>,
                                             admin<down>,
                                             admin<release_actor>,
                                             admin<release_object>,
                                             admin<credit>,
                                             admin<ping>,
                                             admin<ping>,
                                             admin<greet>,
                                             admin<prove>,
                                             admin<opened>,
                                             admin<type_refused>,
                                             admin<family_change>,
                                             admin<reconfigured>,
                                             admin<monitor>,
                                             admin<introduce>,
                                             admin<withdraw>,
                                             about_handles<admin_op::release_handle>,
                                             about_handles<admin_op::vouch>,
                                             about_handles<admin_op::adopt>,
                                             about_handles<admin_op::adopted>,
                                             about_handles<admin_op::reclaim>,
                                             about_handles<admin_op::reclaimed>,
                                             about_handles<admin_op::pull>,
                                             about_handles<admin_op::cancel_question>,
                                             about_handles<admin_op::pull_head>,
                                             about_handles<admin_op::pull_here>,
                                             about_handles<admin_op::question_refused>,
                                             about_handles<admin_op::handle_lost>};
static_assert(operations.size() == static_cast<std::size_t>(admin_op::handle_lost));

decoder decoder_of(std::uint8_t part) {
  if (part < parts.size())
    return parts[part];
  if (part > fuzz::first_admin_part && part <= fuzz::first_admin_part + operations.size())
    return operations[part - fuzz::first_admin_part - 1];
  return nullptr;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto input = std::as_bytes(std::span(data, size));
  const auto decode = input.empty() ? nullptr : decoder_of(take_byte(input));
  if (decode == nullptr)
    return -1;
  // Copied to a block of exactly this size, so that a read past the end is detected.
  const auto bytes = frame::copy_of(input);
  const auto begun = std::clock();
  decode(bytes.bytes());
  expect(std::clock() - begun < CLOCKS_PER_SEC, "took longer than a second");
  return 0;
}
