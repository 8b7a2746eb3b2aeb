// Must not compile: a message with a type whose TROUPE_DESCRIBE misspells a member.
#include <caf/all.hpp>
#include <troupe/framework/node.hpp>

struct spoon {
  double length = 0;
  double width = 0;
};
TROUPE_DESCRIBE(spoon, lenght, width)

void stir(caf::event_based_actor* self, const caf::actor& cup) {
  self->send(cup, spoon{});
}
