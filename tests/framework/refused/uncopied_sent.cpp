// Must not compile: a message with a type that cannot be copied.
#include <memory>

#include <caf/all.hpp>
#include <troupe/framework/node.hpp>

struct spoon {
  std::unique_ptr<double> length;
};
TROUPE_DESCRIBE(spoon, length)

void stir(caf::event_based_actor* self, const caf::actor& cup) {
  self->send(cup, spoon{});
}
