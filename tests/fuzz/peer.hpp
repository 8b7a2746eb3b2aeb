// The other end of a node's link, without the library's link: it sends what a script says and checks all that the node
// sends. The node may write only what the protocol allows, whatever it was sent.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <troupe/framework/internal/trust/authentication.hpp>
#include <troupe/framework/internal/wire/admin.hpp>
#include <troupe/serializers/msgpack/described.hpp>

#include "home.hpp"

namespace fuzz {

/// The cost of a message until it is consumed.
struct price {
  std::uint64_t bytes = 0;
  std::uint64_t handle_bytes = 0; // Bytes behind handles.
};

/// The properties of a peer.
struct character {
  troupe::internal::link_side side = troupe::internal::link_side::dialer;
  std::string secret = {};
  char host = 'a'; // The node id is this hexadecimal digit, 40 times.
  troupe::internal::hello greeting = {};

  [[nodiscard]] static troupe::internal::hello honest_hello(char host);
};

/// Threads: one.
class peer {
public:
  peer(home& at, const troupe::link_options& options, character self);

  // -- the handshake

  /// Performs the whole handshake correctly. Returns false if the node refuses.
  [[nodiscard]] bool shake_hands();
  /// Single steps of the handshake, whichever one is due.
  void say_preamble();
  void say_greet(const troupe::internal::greet& what);
  [[nodiscard]] troupe::internal::greet own_greet() const { return proofs_.my_greet(); }
  [[nodiscard]] troupe::internal::byte_vector own_proof(troupe::internal::proof_of what) const {
    return proofs_.my_proof(what);
  }
  /// The proof that this end is the one that its hello names; empty until the node's hello has arrived.
  [[nodiscard]] troupe::internal::byte_vector own_key_proof() const;
  /// Reads the words of a handshake that the node has written.
  void overhear();
  /// Sends a word and adds it to the transcript that the proofs cover.
  template <class Admin>
  void say(troupe::internal::admin_op op, const Admin& what) {
    const auto body = troupe::msgpack::encode_described(what);
    const troupe::internal::packet_head head{.body_bytes = static_cast<std::uint32_t>(body.size()),
                                             .kind = troupe::internal::packet_kind::admin,
                                             .detail = static_cast<std::uint8_t>(op)};
    note_word(self_.side, head, body);
    write(head.kind, head.detail, body);
  }

  // -- after the handshake

  void write(troupe::internal::packet_kind kind, std::uint8_t detail, troupe::internal::bytes_view body);
  /// Writes bytes that need not be packets. From here on the node may wait for the rest of a packet.
  void write_raw(troupe::internal::bytes_view bytes);
  template <class Admin>
  void write_admin(troupe::internal::admin_op op, const Admin& what) {
    write(troupe::internal::packet_kind::admin, static_cast<std::uint8_t>(op), troupe::msgpack::encode_described(what));
  }
  /// Notes that the actor with that number was mentioned once more.
  void mention(std::uint64_t number) { ++mentioned_[number]; }
  /// Notes the cost of a message, including its handles, until it is consumed.
  void owe(const price& of);
  /// Notes that the node has given this much credit back.
  void give_credit(std::uint64_t actor, std::uint64_t bytes);

  /// Reads and checks the packets that the node has written.
  void listen();
  /// Waits for the answer to a ping, or for the end of the link. Ends the process if neither comes.
  void expect_alive();

  struct question {
    std::uint64_t receiver = 0; // An actor of this end.
    std::uint64_t sender = 0;   // An actor of the node.
    std::uint64_t number = 0;
  };

  [[nodiscard]] pipe& bytes() { return *pipe_; }
  [[nodiscard]] const std::shared_ptr<troupe::internal::link_core>& link() const { return link_; }
  /// Drops the reference to the node's end, which must then be destroyed.
  [[nodiscard]] std::weak_ptr<troupe::internal::link_core> let_go();
  [[nodiscard]] const troupe::internal::hello& theirs() const { return theirs_; }
  [[nodiscard]] const std::string& farewell() const { return farewell_; }
  /// Actors of the node in the order in which it first named them; times_named() tells how often.
  [[nodiscard]] const std::vector<std::uint64_t>& actors() const { return actors_; }
  [[nodiscard]] std::uint64_t times_named(std::uint64_t actor) const;
  [[nodiscard]] std::deque<question>& questions() { return questions_; }
  [[nodiscard]] std::optional<std::uint64_t> change() const { return change_; }
  [[nodiscard]] const std::map<std::uint64_t, std::uint64_t>& outstanding() const { return outstanding_; }
  [[nodiscard]] const std::vector<std::uint64_t>& queries() const { return queries_; }
  [[nodiscard]] std::uint64_t answers() const { return answers_; }

private:
  template <class Admin>
  [[nodiscard]] std::optional<Admin> hear(troupe::internal::admin_op due);
  void note_word(troupe::internal::link_side from, const troupe::internal::packet_head& head,
                 troupe::internal::bytes_view body);
  [[nodiscard]] bool wait_for_packet();
  bool take_packet(troupe::internal::packet_head& head, troupe::internal::byte_vector& body);
  void on_packet(const troupe::internal::packet_head& head, troupe::internal::bytes_view body);
  void on_admin(troupe::internal::admin_op op, troupe::internal::bytes_view body);
  void on_message(std::uint8_t flags, troupe::internal::bytes_view body);
  std::uint64_t read_element(troupe::internal::packet_reader& in);
  void on_chunk(std::uint8_t flags, troupe::internal::bytes_view body);
  void name(std::uint64_t actor);

  const character self_;
  std::shared_ptr<pipe> pipe_;
  std::shared_ptr<troupe::internal::link_core> link_;
  troupe::internal::authentication proofs_;
  const troupe::internal::node_key key_;
  troupe::internal::hello theirs_;
  int greetings_ = 0;
  bool is_lax_ = false; // Raw bytes were sent, so it is unknown how the node understood them.

  troupe::internal::byte_vector unread_;
  std::size_t read_ = 0;
  bool preamble_has_come_ = false;

  std::map<std::uint64_t, std::uint64_t> mentioned_; // Actors of this end that the node has not released.
  std::uint64_t sent_cost_ = 0;                      // Not given back.
  std::uint64_t sent_handle_bytes_ = 0;              // Not given back either.
  std::vector<std::uint64_t> actors_;
  std::map<std::uint64_t, std::uint64_t> named_;
  std::set<std::uint64_t> introduced_;
  std::deque<question> questions_;
  std::vector<std::uint64_t> queries_;
  std::map<std::uint64_t, std::uint64_t> outstanding_; // Cost of messages that the node has sent to actors here.
  std::optional<std::uint64_t> change_;
  std::vector<std::size_t> signatures_; // The number of aliases of each.
  std::uint64_t headers_ = 0;
  std::map<std::uint64_t, std::pair<std::uint64_t, std::uint64_t>> transfers_; // How many bytes have come, of how many.
  std::uint64_t pongs_ = 0;
  std::uint64_t answers_ = 0; // Responses.
  std::string farewell_;
};

} // namespace fuzz
