#include "player.hpp"

#include <algorithm>

#include "decoding.hpp"

namespace fuzz {

using namespace troupe;
using namespace troupe::internal;

namespace {

constexpr std::size_t steps_max = 48;
constexpr const char* secret_of_links = "0123456789abcdef";

} // namespace

player::player(home& at) : home_(at), samples_(make_samples(at)) {}

// -- a script

void player::play(std::span<const std::byte> input) {
  constexpr std::size_t served_every = 256;
  script in{input};
  const auto how = in.byte();
  current_ = 0;
  meet(0, how);
  for (std::size_t i = 0; i < steps_max && !in.is_over(); ++i)
    take_step(in);
  for (std::size_t place = 0; place < peers; ++place)
    if (peers_[place])
      part(place, how);
  home_.settle();
  for (const auto& link : ended_)
    expect_soon([&] { return link.expired(); }, "a link is left",
                [&] { return std::to_string(link.use_count()) + " refer to it"; });
  ended_.clear();
  if (++played_ % served_every == 0)
    expect_served();
}

/// Bits of `how`: 1 the node dials, 2 with a secret, 4 this end has helpers, 8 small windows, 16 no permissions, 32
/// drops the oldest when full, 64 few families.
void player::meet(std::size_t place, std::uint8_t how) {
  auto options = home::link_options();
  character self{.side = (how & 1) != 0 ? link_side::acceptor : link_side::dialer,
                 .secret = (how & 2) != 0 ? secret_of_links : "",
                 .host = static_cast<char>('a' + place)};
  self.greeting = character::honest_hello(self.host);
  if ((how & 4) != 0) {
    self.greeting.tasks = 2;
    self.greeting.spawner = 3;
  }
  if ((how & 8) != 0)
    self.greeting.window_bytes = self.greeting.actor_window_bytes = 1;
  if ((how & 16) != 0) {
    options.allow_exit = options.allow_tasks = options.allow_spawn = false;
    self.greeting.exits = false;
  }
  if ((how & 32) != 0)
    options.when_full = when_full::drop_oldest;
  if ((how & 64) != 0) {
    options.deserializers = {"msgpack"};
    self.greeting.deserializers = {"json"};
  }
  definitions_[place] = {};
  peers_[place] = std::make_unique<peer>(home_, options, std::move(self));
  expect(peers_[place]->shake_hands(), "an honest peer is not let in", peers_[place]->farewell());
}

void player::take_step(script& in) {
  const auto what = static_cast<step>(in.below(steps));
  if (what >= step::answer)
    catch_up(); // It depends on words of the node or the peers.
  if (!take_packet_step(what, in) && !take_admin_step(what, in) && !take_node_step(what, in))
    expect(false, "a step of no kind", std::to_string(static_cast<int>(what)));
  for (const auto& each : peers_)
    if (each) {
      each->bytes().wait_until_handled();
      each->listen();
    }
  if (what == step::find)
    catch_up();
}

/// Waits until all written bytes have been handled and the node's answers have arrived.
void player::catch_up() {
  for (std::size_t place = 0; place < peers; ++place)
    if (peers_[place] && definitions_[place].is_framed && !definitions_[place].is_stalled)
      peers_[place]->expect_alive();
}

void player::part(std::size_t place, std::uint8_t how) {
  auto& one = *peers_[place];
  one.bytes().set_stalled(false);
  one.bytes().set_piece_bytes(SIZE_MAX);
  if (definitions_[place].is_framed)
    one.expect_alive();
  if ((how & 128) != 0)
    one.link()->close("the script is over", 1s);
  one.bytes().end();
  expect(one.bytes().wait_until_closed(), "the link does not end");
  one.listen();
  expect_soon([&] { return one.link()->is_closed(); }, "the link is not closed");
  ended_.push_back(one.let_go());
  peers_[place].reset();
  home_.drop_all_kept();
}

// -- operands

/// The number of an actor, mostly one that either end knows.
std::uint64_t player::number(script& in) {
  constexpr std::array<std::uint64_t, 8> odd{0,          1,          UINT64_MAX, foreign_bit, foreign_bit | 1,
                                             1ull << 60, 1ull << 32, 12345};
  const auto which = in.byte();
  const auto& known = current().actors();
  if (which < 128)
    return known.empty() ? which : known[which % known.size()];
  if (which < 192)
    return which % 8u + 1; // An actor of this end.
  if (which < 224)
    return foreign_bit | (which % 4u + 1);
  return odd[which % odd.size()];
}

/// A count, mostly the right one.
std::uint64_t player::amount(script& in, std::uint64_t right) {
  const auto which = in.byte();
  return which < 160 ? right : which < 240 ? which - 160u : right + (which - 239u);
}

std::string player::alias(script& in) {
  const auto which = in.byte();
  if (which < 240)
    return samples_[which % samples_.size()].alias;
  return which < 248 ? "unknown" + std::to_string(which) : std::string(which == 255 ? 1'025 : 0, 'x');
}

std::vector<std::string> player::families(script& in) {
  constexpr std::array<const char*, 6> names{"typed", "msgpack", "json", "cereal", "unknown", "elements"};
  std::vector<std::string> list;
  const auto which = in.byte();
  for (std::size_t i = 0; i < names.size(); ++i)
    if ((which >> i & 1) != 0)
      list.emplace_back(names[i]);
  if (which == 255)
    list.resize(65, "typed");
  return list;
}

// -- an honest peer

void player::expect_served() {
  peer honest{home_, home::link_options(), {.host = 'f', .greeting = character::honest_hello('f')}};
  expect(honest.shake_hands(), "an honest peer is not let in", honest.farewell());
  honest.write_admin(admin_op::find, find_query{1, "echo"});
  honest.bytes().wait_until_handled();
  honest.expect_alive();
  byte_vector body;
  append_signature(body, {.number = 0, .aliases = {"i32"}});
  honest.write(packet_kind::signature, 0, body);
  body.clear();
  append_signature(body, {.number = 1, .aliases = {"troupe.task", "i32", "i32"}});
  honest.write(packet_kind::signature, 0, body);
  const auto sample_of = [this](std::string_view alias) {
    return *std::ranges::find_if(samples_, [&](const auto& each) { return each.alias == alias; });
  };
  const auto ask = [&](std::uint64_t whom, std::uint64_t signature, const std::vector<std::string>& aliases) {
    byte_vector message;
    append_message_head(message, {.flags = message_flags::request,
                                  .receiver = whom,
                                  .sender = 5,
                                  .request_number = signature + 1,
                                  .signature = signature});
    for (const auto& alias : aliases) {
      const auto value = sample_of(alias);
      append_element(message, {.header_number = 0,
                               .header = value.header.bytes(),
                               .frames = {{.size_bytes = value.frames[0].size_bytes()}}});
      message.insert(message.end(), value.frames[0].bytes().begin(), value.frames[0].bytes().end());
    }
    honest.mention(5);
    honest.owe({.bytes = message.size() + message_cost_bytes});
    const auto before = honest.answers();
    honest.write(packet_kind::message, message_flags::request, message);
    expect(honest.bytes().wait_until_closed([&] {
      honest.listen();
      return honest.answers() > before;
    }) && honest.answers() > before,
           "an honest peer is not answered", honest.farewell());
  };
  ask(honest.actors().back(), 0, {"i32"});
  ask(honest.theirs().tasks, 1, {"troupe.task", "i32", "i32"});
  honest.bytes().end();
  expect(honest.bytes().wait_until_closed(), "the link does not end");
}

} // namespace fuzz
