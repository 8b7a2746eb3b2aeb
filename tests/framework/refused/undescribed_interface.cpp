// Must not compile: the interface of a typed actor with a type that has no TROUPE_DESCRIBE.
#include <caf/all.hpp>
#include <troupe/framework/node.hpp>

struct spoon {
  double length = 0;
};

using cup = caf::typed_actor<caf::replies_to<spoon>::with<double>>;

cup::behavior_type stirred(cup::pointer) {
  return {[](const spoon& with) { return with.length; }};
}
