#include <troupe/framework/internal/wire/features.hpp>

#include <algorithm>
#include <set>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/words/text.hpp>

namespace troupe::internal {

std::vector<feature_offer> offered_features() {
  std::vector<feature_offer> result;
  for (const auto& [name, version] : known_features)
    result.push_back({std::string{name}, version});
  return result;
}

bool feature_set::has(std::string_view name) const noexcept {
  const auto known = std::ranges::find(known_features, name, [](const auto& row) { return row.first; });
  return known != known_features.end() && versions_[static_cast<std::size_t>(known - known_features.begin())] != 0;
}

std::expected<feature_set, std::string> feature_set::agree(std::span<const feature_offer> theirs) {
  if (theirs.size() > features_max)
    return std::unexpected{"the peer lists " + grouped(theirs.size()) + " features, limit " + grouped(features_max)};
  feature_set result;
  std::set<std::string_view> seen;
  for (const auto& offer : theirs) {
    if (offer.name.empty() || offer.name.size() > feature_name_bytes_max)
      return std::unexpected{"the peer lists a feature whose name has " + grouped(offer.name.size())
                             + " bytes; a name has 1 to " + grouped(feature_name_bytes_max)};
    if (offer.version == 0)
      return std::unexpected{"the peer lists version 0 of the feature \"" + one_line(offer.name)
                             + "\"; versions begin at 1"};
    if (!seen.insert(offer.name).second)
      return std::unexpected{"the peer lists the feature \"" + one_line(offer.name) + "\" twice"};
    const auto known = std::ranges::find(known_features, offer.name, [](const auto& row) { return row.first; });
    if (known != known_features.end())
      result.versions_[static_cast<std::size_t>(known - known_features.begin())] =
          std::min(offer.version, known->second);
  }
  return result;
}

} // namespace troupe::internal
