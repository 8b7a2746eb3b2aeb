// Fuzzes a link that is open: the input is a script of what one or two peers say to a node, and of what its own actors
// do meanwhile (script.hpp).
#include "player.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // Never destroyed, since CAF's own threads outlive what main() leaves behind.
  static auto& at = *new fuzz::home;
  static auto& all = *new fuzz::player{at};
  if (size == 0)
    return -1;
  all.play(std::as_bytes(std::span(data, size)));
  return 0;
}
