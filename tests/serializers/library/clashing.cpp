// Two families; every set already has a family with the name of the second.
#include "named_family.hpp"

TROUPE_FAMILIES([](troupe::family_set& families) {
  families.add(std::make_unique<named_family>("another")).add(std::make_unique<named_family>("json"));
})
