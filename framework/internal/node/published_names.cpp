#include <troupe/framework/internal/node/published_names.hpp>

#include <utility>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/wire/packet.hpp>
#include <troupe/framework/internal/words/failing.hpp>

namespace troupe::internal {

std::expected<void, node_error> published_names::publish(std::string name, caf::strong_actor_ptr actor) {
  if (name.empty() || name.size() > alias_bytes_max)
    return bad_option("a published name has 1 to 1,024 bytes, this one " + grouped(name.size()));
  if (!actor)
    return bad_option("the handle of the actor to publish as \"" + name + "\" is empty");
  std::lock_guard guard{mutex_};
  auto [place, is_new] = names_.try_emplace(std::move(name), std::move(actor));
  if (!is_new)
    return fail(node_errc::name_taken, "another actor is published as \"" + place->first + "\"; unpublish it first");
  return {};
}

bool published_names::unpublish(std::string_view name) {
  caf::strong_actor_ptr dropped;
  std::lock_guard guard{mutex_};
  const auto found = names_.find(name);
  if (found == names_.end())
    return false;
  dropped = std::move(found->second);
  names_.erase(found);
  return true;
}

caf::strong_actor_ptr published_names::find(std::string_view name) const {
  std::lock_guard guard{mutex_};
  const auto found = names_.find(name);
  return found == names_.end() ? nullptr : found->second;
}

std::size_t published_names::size() const {
  std::lock_guard guard{mutex_};
  return names_.size();
}

void published_names::clear() {
  name_map dropped;
  std::lock_guard guard{mutex_};
  dropped.swap(names_);
}

} // namespace troupe::internal
