// Another version of rich::everything, as if sent by an older program.
#pragma once

#include <troupe/serializers/payload.hpp>

namespace fuzz {

/// Made by the family `typed`; the same fields in other types that can be converted, some missing, some that
/// rich::everything does not have.
troupe::payload older_payload();

} // namespace fuzz
