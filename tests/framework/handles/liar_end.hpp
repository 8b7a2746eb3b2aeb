// A liar's end of a link. It merges what the liar's ledger writes with what is forged in its name into one stream, in
// which the peer finds no errors except the intended ones.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include <troupe/framework/internal/handles/messages.hpp>

namespace troupe::simulation {

namespace handles = internal::handles;

/// The store of invented names. No object has such a name; questions about it get forged answers only.
constexpr auto invented_store = std::uint64_t{7'777'777};

[[nodiscard]] inline std::uint64_t invented_size(const handles::object_id& name) {
  return 1 + name.index % 9;
}

class liar_end {
public:
  /// A question of the peer's, which may be answered wrongly.
  struct question {
    handles::request_number request = 0;
    handles::object_id name;
    std::uint64_t sent_bytes = 0; // The bytes of forged chunks.
  };

  /// Replaces the number of a question of the liar's ledger with one that the peer accepts.
  void on_write(handles::message& what);
  /// Returns whether the liar's ledger may see an arriving packet. Hides answers to forged questions and messages about
  /// invented names.
  [[nodiscard]] bool on_read(handles::message& what);
  [[nodiscard]] bool on_read(handles::pull_chunk& what);
  /// The ledger has given up the link, but the liar has not.
  void ledger_has_left() { has_ledger_ = false; }
  [[nodiscard]] bool has_ledger() const { return has_ledger_; }

  [[nodiscard]] handles::request_number fresh_number() { return ++last_; }
  void used(handles::request_number forged) { last_ = std::max(last_, forged); }
  [[nodiscard]] std::vector<question>& questions() { return questions_; }

private:
  [[nodiscard]] bool on_answer(handles::request_number& request);

  handles::request_number last_ = 0; // The highest number that the peer has seen.
  std::map<handles::request_number, handles::request_number> wire_of_, own_of_;
  std::vector<question> questions_;
  bool has_ledger_ = true;
};

} // namespace troupe::simulation
