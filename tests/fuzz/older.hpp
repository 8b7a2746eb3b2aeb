// Other versions of the decoded types, as an older program sends them.
#pragma once

#include <troupe/serializers/payload.hpp>

namespace fuzz {

/// Encoded with the family `typed`. Has the same fields with other, convertible types; lacks some, and has some that
/// rich::everything does not have.
troupe::payload older_payload();

/// The same for `late`, whose figures are also of other versions.
troupe::payload older_late_payload();

} // namespace fuzz
