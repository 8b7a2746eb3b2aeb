// Must not compile: a message with a type whose TROUPE_DESCRIBE stands in another namespace.
#include <caf/all.hpp>
#include <troupe/framework/node.hpp>

namespace kitchen {
struct spoon {
  double length = 0;
};
} // namespace kitchen
TROUPE_DESCRIBE(kitchen::spoon, length)

void stir(caf::event_based_actor* self, const caf::actor& cup) {
  self->send(cup, kitchen::spoon{});
}
