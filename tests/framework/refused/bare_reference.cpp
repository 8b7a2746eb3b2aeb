// Must not compile: a typed actor whose interface has troupe::arg<T> is sent a reference without the wrapper.
#include <caf/all.hpp>
#include <troupe/framework/resolving.hpp>

struct spoon {
  double length = 0;
};
TROUPE_DESCRIBE(spoon, length)

using cup = caf::typed_actor<caf::replies_to<troupe::arg<spoon>>::with<double>>;

void stir(caf::scoped_actor& self, const cup& with, const troupe::object_ref<spoon>& ref) {
  self->request(with, caf::infinite, troupe::arg{ref}); // Correct.
  self->request(with, caf::infinite, ref);
}
