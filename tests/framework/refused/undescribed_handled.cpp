// Must not compile: a handler of a type that has no TROUPE_DESCRIBE.
#include <caf/all.hpp>
#include <troupe/framework/node.hpp>

struct spoon {
  double length = 0;
};

caf::behavior cup() {
  return {[](const spoon& with) { return with.length; }};
}
