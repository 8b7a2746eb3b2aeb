// Two families, the second of which has a name that every set knows.
#include "named_family.hpp"

TROUPE_FAMILIES([](troupe::family_set& families) {
  families.add(std::make_unique<named_family>("another")).add(std::make_unique<named_family>("json"));
})
