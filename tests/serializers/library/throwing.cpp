// Adds a family, and then throws.
#include <stdexcept>

#include "named_family.hpp"

TROUPE_FAMILIES([](troupe::family_set& families) {
  families.add(std::make_unique<named_family>("another"));
  throw std::runtime_error("out of order");
})
