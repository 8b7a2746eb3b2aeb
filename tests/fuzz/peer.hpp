// The other end of a node's link, by hand: it speaks as a script says, and listens to all that the node says. What the
// node writes must be what the protocol lets it write, whatever it was told.
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

/// What a message costs until it is consumed.
struct price {
  std::uint64_t bytes = 0;
  std::uint64_t handle_bytes = 0; // That lie behind handles.
};

/// What a peer is like.
struct character {
  troupe::internal::link_side side = troupe::internal::link_side::dialer;
  std::string secret = {};
  char host = 'a'; // 40 times: its node id. A hexadecimal digit.
  troupe::internal::hello greeting = {};

  [[nodiscard]] static troupe::internal::hello honest_hello(char host);
};

/// Threads: one.
class peer {
public:
  peer(home& at, const troupe::link_options& options, character self);

  // -- the handshake

  /// All of it, well done. False where the node refuses.
  [[nodiscard]] bool shake_hands();
  /// One step of it, whatever is due.
  void say_preamble();
  void say_greet(const troupe::internal::greet& what);
  [[nodiscard]] troupe::internal::greet own_greet() const { return proofs_.my_greet(); }
  [[nodiscard]] troupe::internal::byte_vector own_proof(troupe::internal::proof_of what) const {
    return proofs_.my_proof(what);
  }
  /// What shows that this end is who its hello says; empty until the node's has come.
  [[nodiscard]] troupe::internal::byte_vector own_key_proof() const;
  /// Takes in what the node has written, as words of a handshake.
  void overhear();
  /// Counts among what was said.
  template <class Admin>
  void say(troupe::internal::admin_op op, const Admin& what) {
    const auto body = troupe::msgpack::encode_described(what);
    const troupe::internal::packet_head head{.body_bytes = static_cast<std::uint32_t>(body.size()),
                                             .kind = troupe::internal::packet_kind::admin,
                                             .detail = static_cast<std::uint8_t>(op)};
    note_word(self_.side, head, body);
    write(head.kind, head.detail, body);
  }

  // -- afterwards

  void write(troupe::internal::packet_kind kind, std::uint8_t detail, troupe::internal::bytes_view body);
  /// Bytes that need not be packets: from here on the node may wait for the rest of one.
  void write_raw(troupe::internal::bytes_view bytes);
  template <class Admin>
  void write_admin(troupe::internal::admin_op op, const Admin& what) {
    write(troupe::internal::packet_kind::admin, static_cast<std::uint8_t>(op), troupe::msgpack::encode_described(what));
  }
  /// The actor of that number is mentioned once more.
  void mention(std::uint64_t number) { ++mentioned_[number]; }
  /// Costs so much until it is consumed, its handles included.
  void owe(const price& of);
  /// Consumed.
  void give_credit(std::uint64_t actor, std::uint64_t bytes);

  /// Takes in what the node has written.
  void listen();
  /// Waits for the answer to a ping, or the end. Ends the process where neither comes.
  void expect_alive();

  struct question {
    std::uint64_t receiver = 0; // This end's.
    std::uint64_t sender = 0;   // The node's.
    std::uint64_t number = 0;
  };

  [[nodiscard]] pipe& bytes() { return *pipe_; }
  [[nodiscard]] const std::shared_ptr<troupe::internal::link_core>& link() const { return link_; }
  /// Lets go of the node's end, which must then be gone.
  [[nodiscard]] std::weak_ptr<troupe::internal::link_core> let_go();
  [[nodiscard]] const troupe::internal::hello& theirs() const { return theirs_; }
  [[nodiscard]] const std::string& farewell() const { return farewell_; }
  /// Actors of the node, in the order in which it has named them, and how often.
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

  home& home_;
  const character self_;
  std::shared_ptr<pipe> pipe_;
  std::shared_ptr<troupe::internal::link_core> link_;
  troupe::internal::authentication proofs_;
  const troupe::internal::node_key key_;
  troupe::internal::hello theirs_;
  int greetings_ = 0;
  bool is_lax_ = false; // What was written cannot be told any more.

  troupe::internal::byte_vector unread_;
  std::size_t read_ = 0;
  bool preamble_has_come_ = false;

  std::map<std::uint64_t, std::uint64_t> mentioned_; // Actors of this end's, and not released.
  std::uint64_t sent_cost_ = 0;                      // Not given back.
  std::uint64_t sent_handle_bytes_ = 0;              // Likewise.
  std::vector<std::uint64_t> actors_;
  std::map<std::uint64_t, std::uint64_t> named_;
  std::set<std::uint64_t> introduced_;
  std::deque<question> questions_;
  std::vector<std::uint64_t> queries_;
  std::map<std::uint64_t, std::uint64_t> outstanding_; // What the node has sent to actors here.
  std::optional<std::uint64_t> change_;
  std::vector<std::size_t> signatures_; // How many aliases each has.
  std::uint64_t headers_ = 0;
  std::map<std::uint64_t, std::pair<std::uint64_t, std::uint64_t>> transfers_; // What has come of how much.
  std::uint64_t pongs_ = 0;
  std::uint64_t answers_ = 0; // Messages that answer something.
  std::string farewell_;
};

} // namespace fuzz
