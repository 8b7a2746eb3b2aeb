// Claims to be built against another Troupe. Its families must not be asked for.
#include <cstdlib>

#include <troupe/serializers/extend/family_library.hpp>

extern "C" const troupe::family_library troupe_family_library;
constinit const troupe::family_library troupe_family_library{
    .built_against = {.version = "9.8.7", .layout = 6, .sizes = 5},
    .add_families = [](troupe::family_set&) { std::abort(); }};
