// Must not compile: a request with a type that has no TROUPE_DESCRIBE.
#include <caf/all.hpp>
#include <troupe/framework/node.hpp>

struct spoon {
  double length = 0;
};

void stir(caf::scoped_actor& self, const caf::actor& cup) {
  self->request(cup, caf::infinite, spoon{}).receive([](int) {}, [](const caf::error&) {});
}
