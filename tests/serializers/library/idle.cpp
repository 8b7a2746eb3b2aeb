// Adds nothing.
#include "named_family.hpp"

TROUPE_FAMILIES([](troupe::family_set&) {})
