#include <troupe/framework/internal/link/acceptance.hpp>

#include <functional>
#include <utility>

#include <troupe/framework/internal/words/failing.hpp>
#include <troupe/serializers/contract.hpp>

namespace troupe::internal {

std::string lacks_type(std::string_view node, std::string_view alias, std::string_view fingerprint) {
  auto text = std::string{node} + " has no type \"" + std::string{alias} + "\" in its registry";
  if (!fingerprint.empty())
    text += " (fingerprint here " + std::string{fingerprint} + ')';
  return text + "; add it there with types.add<T>(\"" + std::string{alias} + "\")";
}

acceptance::acceptance(const type_registry& types, const family_set& known, const limits& bounds, bool allow_cycles,
                       std::uint64_t cycle_bytes)
    : objects_(std::make_shared<object_environment>(
        object_environment{types, known, {}, bounds, allow_cycles, std::make_shared<circle_account>(cycle_bytes)})) {}

void acceptance::accept(std::vector<std::string> names) {
  families_.clear();
  for (const auto& name : names)
    families_.push_back(objects_->families.find(name));
  auto changed = *objects_;
  changed.deserializers = std::move(names);
  objects_ = std::make_shared<const object_environment>(std::move(changed));
}

std::expected<const family*, node_error> acceptance::check(std::string_view family) const {
  auto by = check_accepted(family, families_);
  if (!by)
    return violation(by.error().message());
  return *by;
}

std::optional<type_refused> acceptance::refuse(const std::string& alias, const type_entry* known) {
  if (told_types_.size() >= refused_types_max || !told_types_.insert(alias).second)
    return std::nullopt;
  type_refused what{.alias = alias, .is_known = known != nullptr, .fingerprint = 0, .contract = {}};
  if (known != nullptr) {
    what.fingerprint = known->fingerprint();
    what.contract = contract_of(*known);
    if (what.contract.size() > contract_bytes_max)
      what.contract.clear();
  }
  return what;
}

} // namespace troupe::internal
