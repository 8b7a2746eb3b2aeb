#include <troupe/framework/cluster/internal/join/published_names.hpp>

#include <algorithm>
#include <utility>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/cluster/internal/membership/entry_keys.hpp>

namespace troupe::membership {

namespace {

constexpr std::string_view singleton_names = "troupe.singleton.";

std::unexpected<directory_error> unusable_name(std::string text) {
  return std::unexpected{directory_error{directory_errc::invalid_argument, std::move(text)}};
}

} // namespace

std::string published_singleton(const std::string& name) {
  return std::string{singleton_names} + name;
}

std::size_t singleton_bytes_max() noexcept {
  return directory::key_bytes_max - singleton_names.size();
}

published_names::~published_names() {
  for (const auto& [name, one] : std::exchange(all_, {}))
    of_.home.unpublish(name);
}

std::expected<void, directory_error> published_names::add(const std::string& name, const caf::actor& actor) {
  if (name_key(of_.self, name).size() > directory::key_bytes_max)
    return unusable_name("the name has " + grouped(name.size()) + " bytes; the key names/" + key_part(of_.self)
                         + "/NAME has at most " + grouped(directory::key_bytes_max) + ", counting / and % as 3");
  for (const auto taken : {singleton_names, region_names})
    if (name.starts_with(taken))
      return unusable_name("names that begin with \"" + std::string{taken} + "\" are Troupe's own: choose another one");
  if (auto done = of_.home.publish(name, actor); !done)
    return unusable_name(done.error().message());
  const auto elsewhere = count_elsewhere();
  std::expected<void, directory_error> room;
  std::optional<published> released; // After the lock.
  {
    const std::lock_guard guard{mutex_};
    room = check_room(elsewhere);
    if (room) {
      auto& at = all_[name];
      released = std::exchange(at, {actor, true});
      if (!is_withdrawn_)
        of_.announce(name, true);
    }
  }
  if (!room)
    of_.home.unpublish(name);
  return room;
}

std::expected<void, directory_error> published_names::check_room() const {
  const auto elsewhere = count_elsewhere();
  const std::lock_guard guard{mutex_};
  return check_room(elsewhere);
}

std::expected<void, directory_error> published_names::check_room(std::size_t elsewhere) const {
  const auto is_announced = [](const auto& one) { return one.second.is_announced; };
  const auto count = static_cast<std::size_t>(std::ranges::count_if(all_, is_announced)) + elsewhere;
  if (count < of_.most)
    return {};
  return std::unexpected{directory_error{directory_errc::full,
                                         "this member has " + grouped(count)
                                             + " names, of its actors and of the kinds of entities that it hosts; the "
                                               "others read at most "
                                             + grouped(of_.most) + ": unpublish some, or use another member"}};
}

std::expected<void, node_error> published_names::add_unannounced(const std::string& name, const caf::actor& actor) {
  if (auto done = of_.home.publish(name, actor); !done)
    return done;
  std::optional<published> released; // After the lock.
  const std::lock_guard guard{mutex_};
  auto& at = all_[name];
  released = std::exchange(at, {actor, false});
  return {};
}

bool published_names::remove(std::string_view name, const caf::actor_addr* only) {
  published released; // After the lock.
  {
    const std::lock_guard guard{mutex_};
    const auto found = all_.find(name);
    if (found == all_.end() || (only != nullptr && found->second.actor != *only))
      return false;
    released = std::move(found->second);
    all_.erase(found);
    if (released.is_announced)
      of_.announce(std::string{name}, false);
  }
  return of_.home.unpublish(name);
}

std::optional<caf::actor> published_names::find(std::string_view name) const {
  const std::lock_guard guard{mutex_};
  const auto found = all_.find(name);
  return found == all_.end() ? std::nullopt : std::optional{found->second.actor};
}

void published_names::withdraw(bool is_wanted) {
  const std::lock_guard guard{mutex_};
  is_withdrawn_ = is_wanted;
  for (const auto& [name, one] : all_)
    if (one.is_announced)
      of_.announce(name, !is_wanted);
}

} // namespace troupe::membership
