// Fuzzes a link before it is open: how a node treats the words of a stranger that dials it or is dialed by it, with or
// without the secret. The first byte selects the case; the rest is a script. The node must end the link or open it, and
// must serve others afterwards.
#include <array>
#include <cerrno>
#include <cstddef>
#include <future>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "decoding.hpp"
#include "player.hpp"

namespace {

using namespace troupe;
using namespace troupe::internal;
using fuzz::expect;

/// Numbered by hand: append only.
enum class word : std::uint8_t {
  raw_bytes = 0,
  preamble = 1,
  greet = 2,
  prove = 3,
  hello = 4,
  ready = 5,
  opened = 6,
  refuse = 7,
  goodbye = 8,
  raw_packet = 9,
  raw_admin = 10,
  split = 11,
  wait = 12,
};
constexpr std::uint8_t words = 13;

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// -- one word at a time

/// The proof as an honest peer makes it, or with another length or content, as the byte says.
byte_vector bent(byte_vector proof, std::uint8_t how) {
  if (how >= 250)
    proof.resize(how - 240u);
  else if (how >= 128 && !proof.empty())
    proof[how % proof.size()] ^= std::byte{1};
  return proof;
}

/// How to bend a word's second proof, derived from the lowest bits of `how`.
std::uint8_t bend_of_key(std::uint8_t how) {
  constexpr std::array<std::uint8_t, 4> bends{0, 0, 200, 255};
  return bends[how % bends.size()];
}

void say_greet(fuzz::peer& one, fuzz::script& in) {
  auto mine = one.own_greet();
  const auto how = in.byte();
  if ((how & 1) != 0)
    mine.process = in.byte();
  if ((how & 2) != 0)
    mine.host = text_of(in.bytes());
  if ((how & 4) != 0)
    mine.nonce = bent(mine.nonce, in.byte());
  if ((how & 8) != 0)
    mine.method = in.byte();
  if ((how & 16) != 0)
    mine.connection = byte_vector(in.byte(), std::byte{7});
  one.say_greet(mine);
}

void say_hello(fuzz::peer& one, fuzz::script& in) {
  auto mine = fuzz::character::honest_hello('a');
  const auto how = in.byte();
  const auto list = [&] {
    std::vector<std::string> names(in.byte() % 70u, "typed");
    if (!names.empty())
      names.back() = text_of(in.bytes());
    return names;
  };
  if ((how & 1) != 0)
    mine.name = std::string(in.byte() * 8u, '\n') + text_of(in.bytes());
  if ((how & 2) != 0)
    mine.token = bent(mine.token, in.byte());
  if ((how & 4) != 0)
    mine.serializers = list();
  if ((how & 8) != 0)
    mine.deserializers = list();
  if ((how & 16) != 0) {
    mine.message_bytes = in.byte();
    mine.window_bytes = in.byte();
    mine.actor_window_bytes = in.byte();
  }
  if ((how & 32) != 0) {
    mine.tasks = in.byte();
    mine.spawner = (std::uint64_t{in.byte()} << 56) + 1;
    for (unsigned count = in.byte() * 2u; count > 0; --count)
      mine.features.push_back({count % 3 == 0   ? "extensions"
                               : count % 5 == 0 ? "node_key"
                                                : std::to_string(count),
                               count % 7});
  }
  if ((how & 64) != 0) {
    mine.shares_store = true;
    mine.store_number = in.byte();
    mine.store_nonce = in.byte();
    mine.channel = UINT64_MAX;
    mine.store_proof = byte_vector(in.byte(), std::byte{7});
  }
  if ((how & 128) != 0)
    mine.introduction_key = bent(mine.introduction_key, in.byte());
  one.say(admin_op::hello, mine);
}

void say_next(fuzz::peer& one, fuzz::script& in) {
  switch (static_cast<word>(in.below(words))) {
  case word::raw_bytes:
    return one.write_raw(in.bytes());
  case word::preamble:
    return one.say_preamble();
  case word::greet:
    return say_greet(one, in);
  case word::prove:
    return one.say(admin_op::prove, prove{bent(one.own_proof(proof_of::secret), in.byte())});
  case word::hello:
    return say_hello(one, in);
  case word::ready: {
    const auto how = in.byte();
    return one.say(admin_op::ready, ready{how >= 128, bent(one.own_proof(proof_of::agreement), in.byte()),
                                          bent(one.own_key_proof(), bend_of_key(how))});
  }
  case word::opened: {
    const auto how = in.byte();
    return one.say(admin_op::opened,
                   opened{bent(one.own_proof(proof_of::agreement), how), bent(one.own_key_proof(), bend_of_key(how))});
  }
  case word::refuse:
    return one.write_admin(admin_op::refuse, refuse{in.byte(), text_of(in.bytes())});
  case word::goodbye:
    return one.write_admin(admin_op::goodbye, goodbye{text_of(in.bytes())});
  case word::raw_packet: {
    const auto kind = static_cast<packet_kind>(in.byte());
    const auto detail = in.byte();
    return one.write(kind, detail, in.bytes());
  }
  case word::raw_admin: {
    const auto op = in.byte();
    return one.write(packet_kind::admin, op, in.bytes());
  }
  case word::split:
    return one.bytes().set_piece_bytes(in.byte());
  case word::wait:
    break;
  }
  one.overhear();
}

void shake_hands_badly(fuzz::home& at, std::uint8_t how, fuzz::script& in) {
  constexpr std::size_t words_max = 32;
  const auto side = (how & 1) != 0 ? link_side::acceptor : link_side::dialer;
  const std::string secret = (how & 2) != 0 ? "0123456789abcdef" : "";
  fuzz::peer one{at, fuzz::home::link_options(), {.side = side, .secret = secret, .greeting = {}}};
  if ((how & 4) != 0 && side == link_side::dialer) { // First as far as an honest dialer's first words go.
    one.say_preamble();
    one.say_greet(one.own_greet());
    one.bytes().wait_until_handled();
    one.overhear();
  }
  for (std::size_t i = 0; i < words_max && !in.is_over(); ++i) {
    say_next(one, in);
    one.bytes().wait_until_handled();
    if ((how & 8) != 0)
      one.overhear();
  }
  const auto opening = one.link();
  one.bytes().end();
  expect(one.bytes().wait_until_closed(), "the link does not end");
  fuzz::expect_soon([&] { return opening->is_closed(); }, "the link is not closed");
}

// -- all bytes at once, over a socket

sockaddr_un abstract_address(const std::string& name, socklen_t& size) {
  sockaddr_un at{.sun_family = AF_UNIX, .sun_path = {}};
  name.copy(at.sun_path + 1, sizeof(at.sun_path) - 1);
  size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return at;
}

/// Writes all bytes, then reads until the other end closes.
void converse(int connected, bytes_view bytes) {
  timeval limit{.tv_sec = fuzz::patience.count(), .tv_usec = 0};
  ::setsockopt(connected, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  static_cast<void>(::send(connected, bytes.data(), bytes.size(), MSG_NOSIGNAL));
  ::shutdown(connected, SHUT_WR);
  std::array<std::byte, 4096> some;
  ssize_t count = 0;
  while ((count = ::recv(connected, some.data(), some.size(), 0)) > 0) {
  }
  expect(count == 0 || errno == ECONNRESET, "the node does not end the connection");
  ::close(connected);
}

void dial_node(const std::string& name, bytes_view bytes) {
  socklen_t size = 0;
  const auto at = abstract_address(name, size);
  const auto made = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  expect(::connect(made, reinterpret_cast<const sockaddr*>(&at), size) == 0, "the node does not listen");
  converse(made, bytes);
}

class somebody_listening {
public:
  explicit somebody_listening(std::string name)
      : name_(std::move(name)), socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    socklen_t size = 0;
    const auto at = abstract_address(name_, size);
    expect(::bind(socket_, reinterpret_cast<const sockaddr*>(&at), size) == 0 && ::listen(socket_, 4) == 0,
           "nobody listens");
  }
  ~somebody_listening() { ::close(socket_); }
  somebody_listening(const somebody_listening&) = delete;
  somebody_listening& operator=(const somebody_listening&) = delete;

  void be_dialed(fuzz::home& at, bytes_view bytes) const {
    auto connecting = std::async(std::launch::async,
                                 [&] { return at.node().connect("unix://@" + name_, fuzz::home::link_options()); });
    converse(::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC), bytes);
    const auto link = connecting.get();
    expect(link.has_value() || !link.error().message().empty(), "connecting fails without a reason");
  }

private:
  const std::string name_;
  const int socket_;
};

std::string unique_name(const char* what) {
  return std::string{"troupe-fuzz-"} + what + "-" + std::to_string(::getpid());
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t served_every = 256;
  static const auto name = unique_name("node");
  // Never destroyed: CAF's threads outlive the statics that main() destroys.
  static auto& at = *new fuzz::home{{"unix://@" + name}};
  static auto& others = *new fuzz::player{at};
  static const somebody_listening listening{unique_name("listener")};
  static std::size_t tried = 0;
  if (size == 0)
    return -1;
  fuzz::script in{std::as_bytes(std::span(data, size))};
  const auto how = in.byte();
  if ((how & 0xe0) == 0xe0) {
    if ((how & 1) != 0)
      listening.be_dialed(at, in.rest());
    else
      dial_node(name, in.rest());
  } else {
    shake_hands_badly(at, how, in);
  }
  at.settle();
  fuzz::expect_soon([] { return at.node().links().open().empty(); }, "a link is left");
  if (++tried % served_every == 0)
    others.expect_served();
  return 0;
}
