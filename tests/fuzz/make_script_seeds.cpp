// Seeds for the targets that play scripts: the behavior of honest peers, and a little beyond.
#include <initializer_list>

#include <troupe/framework/internal/trust/authentication.hpp>
#include <troupe/framework/internal/wire/packet.hpp>
#include <troupe/serializers/msgpack/described.hpp>

#include "script.hpp"
#include "seeds.hpp"

namespace fuzz {

using namespace troupe::internal;

namespace {

/// Operands as the player reads them.
constexpr std::uint8_t i32 = 0, str = 3, actor = 6, exit_message = 12, guests = 21, reading = 24, task = 27, spawn = 33,
                       object = 42, packed = 45;                 // Places among the samples.
constexpr std::uint8_t runner = 0, spawner = 1, found_first = 2; // The node's actors, as it names them.
constexpr std::uint8_t own = 129;                                // An actor of the peer.
constexpr std::uint8_t foreign = 193;                            // An actor that the peer must introduce.
constexpr std::uint8_t echo = 0, keeper = 1, quiet = 2, source = 3, mortal = 4, kept = 200; // Names.

class story {
public:
  explicit story(std::uint8_t how) : bytes_{static_cast<std::byte>(how)} {}

  story& add(step what, std::initializer_list<std::uint8_t> operands = {}) {
    bytes_.push_back(static_cast<std::byte>(what));
    return add(operands);
  }
  story& add(std::initializer_list<std::uint8_t> operands) {
    for (const auto each : operands)
      bytes_.push_back(static_cast<std::byte>(each));
    return *this;
  }
  story& add(bytes_view more) {
    bytes_.insert(bytes_.end(), more.begin(), more.end());
    return *this;
  }
  /// Gives the keeper an actor of the peer. Many stories begin so.
  story& give_actor(std::uint8_t number = own) {
    return add(step::find, {keeper})
        .add(step::signature, {1, actor})
        .add(step::message, {0, 0, found_first, 0, 0, 0, actor, 0, number});
  }
  [[nodiscard]] const byte_vector& bytes() const { return bytes_; }

private:
  byte_vector bytes_;
};

std::vector<std::pair<std::string, story>> link_stories() {
  std::vector<std::pair<std::string, story>> all;
  for (const std::uint8_t how : std::initializer_list<std::uint8_t>{0, 1, 2, 3, 4, 16, 64, 128})
    all.emplace_back("ask." + std::to_string(how), story(how)
                                                       .add(step::find, {echo})
                                                       .add(step::signature, {1, i32})
                                                       .add(step::message, {2, 0, found_first, own, 0, 0, i32})
                                                       .add(step::ping, {1}));
  all.emplace_back("send_to_kept", story(0)
                                       .give_actor()
                                       .add(step::send, {0, 7, 0})
                                       .add(step::request, {1, 9, 0})
                                       .add(step::answer, {i32, 0, i32})
                                       .add(step::credit, {0, 0})
                                       .add(step::drop_kept, {0}));
  all.emplace_back("small_windows", story(8)
                                        .give_actor()
                                        .add(step::send, {0, 7, 0})
                                        .add(step::send, {1, 200, 0})
                                        .add(step::request, {0, 7, 0})
                                        .add(step::credit, {0, 0})
                                        .add(step::credit, {0, 0})
                                        .add(step::answer, {str, 0, str}));
  all.emplace_back("drops_the_oldest", story(40)
                                           .give_actor()
                                           .add(step::request, {5, 10, 0})
                                           .add(step::request, {5, 12, 0})
                                           .add(step::request, {5, 14, 0})
                                           .add(step::send, {5, 14, 0}));
  all.emplace_back("watch", story(0)
                                .give_actor()
                                .add(step::watch, {0, 0})
                                .add(step::link_to, {0, 0})
                                .add(step::down, {own, 3, 'e', 'n', 'd'})
                                .add(step::watch, {0, 200})
                                .add(step::send_exit, {0})
                                .add(step::find, {mortal})
                                .add(step::monitor, {3})
                                .add(step::demonitor, {3})
                                .add(step::monitor, {3})
                                .add(step::end_actor, {mortal}));
  all.emplace_back("third_node", story(0)
                                     .give_actor()
                                     .add(step::publish_kept, {0})
                                     .add(step::other_peer, {0})
                                     .add(step::find, {kept})
                                     .add(step::signature, {1, reading})
                                     .add(step::message, {2, 0, found_first, own, 0, 0, reading})
                                     .add(step::message, {0, 0, found_first, own, 0, 2, reading})
                                     .add(step::signature, {2, packed, actor})
                                     .add(step::message, {0, 1, found_first, own, 0, 2, packed, 16, actor, 0, own})
                                     .add(step::other_peer, {0})
                                     .add(step::answer, {i32, 0, i32})
                                     .add(step::release_actor, {3, 0}));
  all.emplace_back("tasks", story(0)
                                .add(step::signature, {3, task, i32, i32})
                                .add(step::message, {2, 0, runner, own, 0, 0, task, 0, i32, 0, i32})
                                .add(step::signature, {2, spawn, i32})
                                .add(step::message, {2, 1, spawner, own, 1, 0, spawn, 0, i32})
                                .add(step::signature, {1, exit_message})
                                .add(step::message, {0, 2, runner, 0, 0, 0, exit_message}));
  all.emplace_back("helpers_there", story(4).add(step::use_helpers, {1}).add(step::answer, {actor, 0, actor, 0, own}));
  all.emplace_back("lists", story(0)
                                .add(step::reconfigure, {0, 7, 2})
                                .add(step::change_lists, {1, 1})
                                .add(step::reconfigured, {0, 0})
                                .add(step::reconfigure, {162, 8, 8})
                                .add(step::change_lists, {2, 7})
                                .add(step::reconfigured, {0, 200}));
  all.emplace_back("introductions", story(0)
                                        .add(step::introduce, {16, 0, 2})
                                        .add(step::find, {keeper})
                                        .add(step::signature, {1, actor})
                                        .add(step::introduce, {6, 0, found_first})
                                        .add(step::message, {0, 0, found_first, own, 0, 0, actor, 0, foreign})
                                        .add(step::withdraw, {foreign}));
  all.emplace_back("many_answers", story(0)
                                       .add(step::find, {source})
                                       .add(step::find, {quiet})
                                       .add(step::signature, {1, i32})
                                       .add(step::message, {0, 0, 2, own, 0, 4, i32, 0, 12})
                                       .add(step::stall, {1})
                                       .add(step::message, {0, 0, 2, own, 0, 4, i32, 0, 12})
                                       .add(step::stall, {0})
                                       .add(step::split, {3})
                                       .add(step::message, {2, 0, 3, own, 0, 0, i32})
                                       .add(step::forget)
                                       .add(step::credit, {0, 0}));
  all.emplace_back("chunks", story(0)
                                 .add(step::find, {keeper})
                                 .add(step::signature, {2, packed, object})
                                 .add(step::message, {0, 0, found_first, own, 0, 18, packed, 16, object})
                                 .add(step::chunk, {3, 0, 4, 1, 2, 3, 4})
                                 .add(step::chunk, {0, 0, 4, 1, 2, 3, 4}));
  all.emplace_back("types", story(0)
                                .give_actor()
                                .add(step::type_refused, {reading, 1})
                                .add(step::send, {3, 1, 0})
                                .add(step::type_refused, {guests, 0})
                                .add(step::signature, {1, 245})
                                .add(step::message, {2, 1, found_first, own, 0, 1, i32}));
  all.emplace_back(
      "names",
      story(0).add(step::ask_names).add(step::found, {0, own}).add(step::ask_names).add(step::found, {1, found_first}));
  all.emplace_back("ends", story(128).give_actor().add(step::request, {0, 1, 0}).add(step::close));
  all.emplace_back("goodbye", story(0).give_actor().add(step::goodbye, {3, 'b', 'y', 'e'}));
  return all;
}

constexpr std::uint8_t preamble = 1, greeting = 2, proof = 3, hello_word = 4, ready_word = 5, opened_word = 6,
                       waits = 12;

void write_handshakes(const std::filesystem::path& folder) {
  const auto write = [&](const std::string& name, const story& what) {
    write_seed(folder, "dialer", name, what.bytes());
  };
  for (const std::uint8_t secret : std::initializer_list<std::uint8_t>{0, 2}) {
    auto dials = story(secret).add({preamble, greeting, 0, waits});
    auto accepts = story(secret + 1).add({preamble, waits, greeting, 0, waits});
    if (secret != 0) {
      dials.add({proof, 0, waits});
      accepts.add({proof, 0, waits});
    }
    dials.add({hello_word, 0, waits, ready_word, 0, 0, waits});
    accepts.add({hello_word, 0, waits, opened_word, 0});
    write("dials." + std::to_string(secret), dials);
    write("accepts." + std::to_string(secret), accepts);
  }
  write("bent_hello",
        story(0).add({preamble, greeting, 0, waits, hello_word, 255, 3, 2, 'm', 'e', 200, 2, 1, 'j', 3, 1, 't'}));
  write("bent_greet", story(0).add({preamble, greeting, 15, 7, 3, 'a', 'b', 'c', 251, 2}));
  authentication mine{link_side::dialer, 1, std::string(40, 'a'), std::string{}, digest{}};
  const auto body = troupe::msgpack::encode_described(mine.my_greet());
  const auto head =
      packet_head_of({.body_bytes = static_cast<std::uint32_t>(body.size()), .kind = packet_kind::admin, .detail = 14});
  write("socket_dials", story(0xe0).add(bytes_view{make_preamble()}).add(bytes_view{head}).add(bytes_view{body}));
  write("socket_accepts", story(0xe1).add(bytes_view{make_preamble()}).add(bytes_view{head}).add(bytes_view{body}));
}

} // namespace

void write_script_seeds(const std::filesystem::path& folder) {
  for (const auto& [name, what] : link_stories())
    write_seed(folder, "link", name, what.bytes());
  write_handshakes(folder);
}

} // namespace fuzz
