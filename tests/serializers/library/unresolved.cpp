// Uses a function that no library defines.
#include "named_family.hpp"

std::string name_that_nobody_knows();

TROUPE_FAMILIES([](troupe::family_set& families) {
  families.add(std::make_unique<named_family>(name_that_nobody_knows()));
})
