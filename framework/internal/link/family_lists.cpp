#include <string>
#include <utility>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/link/family_lists.hpp>
#include <troupe/framework/internal/words/failing.hpp>

namespace troupe::internal {

std::expected<family_list, node_error> resolve_families(const std::vector<std::string>& names, const family_set& known,
                                                        bool trusted) {
  if (names.size() > families_max)
    return bad_option("a link's list of " + grouped(names.size()) + " families, limit " + grouped(families_max));
  auto families = known.resolve(names);
  if (!families)
    return bad_option(families.error().message());
  for (const auto* one : *families)
    if (one->needs_trust() && !trusted)
      return bad_option("family " + std::string{one->name()}
                        + " trusts its input; list it only with trusted_families = true, and only for peers that may "
                          "run code in this process");
  return family_list{names, *std::move(families)};
}

} // namespace troupe::internal
