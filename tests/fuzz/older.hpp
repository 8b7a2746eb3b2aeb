// Other versions of the types that are decoded, as if sent by an older program.
#pragma once

#include <troupe/serializers/payload.hpp>

namespace fuzz {

/// Made by the family `typed`; the same fields in other types that can be converted, some missing, some that
/// rich::everything does not have.
troupe::payload older_payload();

/// The same of `late`; its figures have other versions too.
troupe::payload older_late_payload();

} // namespace fuzz
