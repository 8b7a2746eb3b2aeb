// A liar's end of a link: where what its ledger says and what is forged in its name become one stream, in which the
// peer finds nothing amiss but what is meant to be.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include <troupe/framework/internal/handles/messages.hpp>

namespace troupe::simulation {

namespace handles = internal::handles;

/// Names that stand for nothing: whoever asks for them is answered by forged messages only.
constexpr auto invented_store = std::uint64_t{7'777'777};

[[nodiscard]] inline std::uint64_t invented_size(const handles::object_id& name) {
  return 1 + name.index % 9;
}

class liar_end {
public:
  /// What the peer asked, and may be answered wrongly.
  struct question {
    handles::request_number request = 0;
    handles::object_id name;
    std::uint64_t sent_bytes = 0; // Of forged chunks.
  };

  /// Gives what the liar's ledger writes a number that the peer will take.
  void on_write(handles::message& what);
  /// Whether the liar's ledger may see what arrives; it knows nothing of what was forged.
  [[nodiscard]] bool on_read(handles::message& what);
  [[nodiscard]] bool on_read(handles::pull_chunk& what);
  /// The ledger has given up the link; the liar has not.
  void ledger_has_left() { has_ledger_ = false; }
  [[nodiscard]] bool has_ledger() const { return has_ledger_; }

  [[nodiscard]] handles::request_number fresh_number() { return ++last_; }
  void used(handles::request_number forged) { last_ = std::max(last_, forged); }
  [[nodiscard]] std::vector<question>& questions() { return questions_; }

private:
  [[nodiscard]] bool on_answer(handles::request_number& request);

  handles::request_number last_ = 0; // That the peer has seen.
  std::map<handles::request_number, handles::request_number> wire_of_, own_of_;
  std::vector<question> questions_;
  bool has_ledger_ = true;
};

} // namespace troupe::simulation
