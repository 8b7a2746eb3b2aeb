// Fuzzes an open link: the input is a script (script.hpp) of what one or two peers send to a node, and of what the
// node's actors do meanwhile.
#include "player.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // Never destroyed: CAF's threads outlive the statics that main() destroys.
  static auto& at = *new fuzz::home;
  static auto& all = *new fuzz::player{at};
  if (size == 0)
    return -1;
  all.play(std::as_bytes(std::span(data, size)));
  return 0;
}
