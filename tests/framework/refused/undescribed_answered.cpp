// Must not compile: a handler that returns a type that has no TROUPE_DESCRIBE.
#include <caf/all.hpp>
#include <troupe/framework/node.hpp>

struct spoon {
  double length = 0;
};

caf::behavior drawer() {
  return {[](int) { return spoon{}; }};
}
