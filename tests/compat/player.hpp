// Plays one end of a recorded conversation against a live node.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <troupe/framework/internal/trust/authentication.hpp>

#include "protocol_1.hpp"
#include "wire.hpp"

namespace troupe::tests::compat {

/// What the recorded end's node keeps from link to link.
struct played_node {
  internal::node_key key;
  bindings known;
};

/// Plays one link. Says what the recorded end has said, in the recorded order, and waits before each packet for all
/// that the other end had said before. Only what must be fresh is made anew: the nonce, the node's key, proofs, the
/// time at which a message is sent, and the numbers that the live end has chosen.
class player {
public:
  /// Takes over the socket. The other arguments must outlive the player.
  player(int connected, end mine, const packets& recorded, played_node& node);

  /// Plays to the end, or to the moment at which the recorded link has broken. Calls `all_but_farewell` when only the
  /// last packet is missing. Throws std::runtime_error if the live end says anything that the recording does not have,
  /// does not say something that it has, or breaks the frozen rules.
  void play(const std::function<void()>& all_but_farewell = [] {});

private:
  void say(std::size_t index);
  void hear_all(std::size_t index);
  void hear_rest();
  void hear_while(const std::function<bool()>& is_due);
  void hear_one();
  [[noreturn]] void fail_to_hear(const std::string& why) const;
  void take_timed(const statement& said);
  void take(const statement& said);
  void excuse_repeated_questions();
  void count_mention(const field& actor, std::int64_t change);
  [[nodiscard]] bool is_to_be_said(std::size_t index) const;
  [[nodiscard]] std::string name_asked_by(std::uint64_t query) const;
  [[nodiscard]] bool may_come_now(std::size_t index) const;
  [[nodiscard]] bool answer_again(const statement& question);
  void make_fresh(statement& own);
  void check_proofs(const statement& theirs);
  [[nodiscard]] bool has_rest() const;

  void add_to_transcript(const packet& what);
  [[nodiscard]] bytes proof(end by, const std::string& label_of_dialer, const std::string& label_of_acceptor,
                            std::span<const std::byte> key) const;
  [[nodiscard]] bytes shared_key() const;

  wire wire_;
  const end mine_;
  const packets& recorded_;
  std::vector<statement> statements_;            // Of the recording.
  std::size_t next_ = 0;                         // The first one that was not said or heard.
  std::map<std::string, std::size_t> answers_;   // The last answer of this end to the question for each name.
  std::set<std::size_t> missing_;                // The live end's recorded packets that have not come, by their index.
  std::set<std::size_t> excused_;                // Repeated questions of the live end, and this end's answers.
  std::map<std::string, std::int64_t> releases_; // What the live end has yet to release.
  std::set<std::uint64_t> credited_;             // Actors of the live end.
  link_reader live_;
  played_node& node_;

  internal::digest transcript_;
  int greetings_ = 0;
  bool is_open_ = false;
  bytes live_token_;
};

} // namespace troupe::tests::compat
