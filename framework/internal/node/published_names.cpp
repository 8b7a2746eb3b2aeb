#include <troupe/framework/internal/node/published_names.hpp>

#include <utility>
#include <vector>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/wire/packet.hpp>
#include <troupe/framework/internal/words/failing.hpp>

namespace troupe::internal {

std::expected<void, node_error> published_names::publish(std::string name, caf::strong_actor_ptr actor) {
  if (name.empty() || name.size() > alias_bytes_max)
    return bad_option("a published name has 1 to 1,024 bytes, this one " + grouped(name.size()));
  if (!actor)
    return bad_option("the handle of the actor to publish as \"" + name + "\" is empty");
  {
    std::lock_guard guard{mutex_};
    if (takes_no_more_)
      return fail(node_errc::link_down, "the node is drained; \"" + name + "\" is not published");
    if (const auto [place, is_new] = names_.try_emplace(name, std::move(actor)); !is_new)
      return fail(node_errc::name_taken, "another actor is published as \"" + place->first + "\"; unpublish it first");
  }
  changed_(name);
  return {};
}

bool published_names::unpublish(std::string_view name) {
  name_map::node_type dropped;
  {
    std::lock_guard guard{mutex_};
    const auto found = names_.find(name);
    if (found == names_.end())
      return false;
    dropped = names_.extract(found);
  }
  changed_(dropped.key());
  return true;
}

caf::strong_actor_ptr published_names::find(std::string_view name) const {
  std::lock_guard guard{mutex_};
  const auto found = names_.find(name);
  return found == names_.end() ? nullptr : found->second;
}

std::vector<std::pair<std::string, caf::strong_actor_ptr>> published_names::all() const {
  std::lock_guard guard{mutex_};
  return {names_.begin(), names_.end()};
}

std::size_t published_names::size() const {
  std::lock_guard guard{mutex_};
  return names_.size();
}

void published_names::withdraw_all() {
  std::vector<std::string> changed;
  {
    std::lock_guard guard{mutex_};
    takes_no_more_ = true;
    for (const auto& [name, actor] : names_)
      changed.push_back(name);
    withdrawn_.merge(names_);
  }
  for (const auto& name : changed)
    changed_(name);
}

void published_names::clear() {
  name_map dropped;
  name_map dropped_as_well;
  std::lock_guard guard{mutex_};
  dropped.swap(names_);
  dropped_as_well.swap(withdrawn_);
}

} // namespace troupe::internal
