// The files below frozen/.
#pragma once

#include <algorithm>
#include <filesystem>
#include <vector>

namespace troupe::tests::compat {

[[nodiscard]] inline std::vector<std::filesystem::path> recordings() {
  std::vector<std::filesystem::path> result;
  for (const auto& each : std::filesystem::recursive_directory_iterator(TROUPE_FROZEN))
    if (each.path().extension() == ".conversation")
      result.push_back(each.path());
  std::ranges::sort(result);
  return result;
}

} // namespace troupe::tests::compat
