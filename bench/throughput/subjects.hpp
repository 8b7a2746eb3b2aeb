// Who takes part.
#pragma once

#include "peers/small_messages.hpp"

namespace bench {

/// In the order of the rounds and of the table. One whose library was not found when this was built says so when it is
/// asked to serve.
[[nodiscard]] const std::vector<subject>& all_subjects();

/// Those that are not Troupe's: ratios are taken to them.
[[nodiscard]] const std::vector<std::string>& all_peers();

/// Null where there is none of that name.
[[nodiscard]] const subject* find_subject(std::string_view name);

} // namespace bench
