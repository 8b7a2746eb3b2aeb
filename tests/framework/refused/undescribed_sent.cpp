// Must not compile: a message with a type that has no TROUPE_DESCRIBE.
#include <caf/all.hpp>
#include <troupe/framework/node.hpp>

struct spoon {
  double length = 0;
};

void stir(caf::event_based_actor* self, const caf::actor& cup) {
  self->send(cup, spoon{});
}
