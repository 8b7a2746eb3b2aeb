#include <troupe/framework/internal/lasting/lasting_office.hpp>

#include <algorithm>
#include <utility>

#include <troupe/base/longest_wait.hpp>
#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/threads/io_timer.hpp>
#include <troupe/framework/internal/wire/packet.hpp>
#include <troupe/framework/internal/words/failing.hpp>

namespace troupe::internal {

namespace {

// Each handle may keep links to all of its addresses.
constexpr std::size_t addresses_max = 64;

node_error node_has_ended() {
  return {node_errc::link_down, "the node has ended"};
}

std::expected<void, node_error> check(const lasting_office::wanted& what, const lasting_options& options,
                                      const caf::actor_system& system) {
  if (what.name.empty() || what.name.size() > alias_bytes_max)
    return bad_option("a published name has 1 to 1,024 bytes, this one " + grouped(what.name.size()));
  if (what.addresses.empty() || what.addresses.size() > addresses_max)
    return bad_option("a lasting handle has 1 to " + grouped(addresses_max) + " addresses, this one "
                      + grouped(what.addresses.size()));
  if (options.patience.count() < 0)
    return bad_option("patience is " + std::to_string(options.patience.count()) + " ms; the minimum is 0");
  if (options.give_up && options.give_up->count() < 0)
    return bad_option("give_up is " + std::to_string(options.give_up->count()) + " ms; the minimum is 0");
  if (options.idle_close && options.idle_close->count() < 0)
    return bad_option("idle_close is " + std::to_string(options.idle_close->count()) + " ms; the minimum is 0");
  if (options.events.listener && options.events.listener.node() != system.node())
    return bad_option("the listener of a lasting handle must be an actor of this process");
  return {};
}

} // namespace

std::expected<caf::strong_actor_ptr, node_error> lasting_office::make(wanted what, lasting_options options) {
  if (auto good = check(what, options, of_.system); !good)
    return std::unexpected{std::move(good).error()};
  std::vector<std::shared_ptr<kept_address>> addresses;
  for (const auto& to : what.addresses) {
    if (std::ranges::any_of(addresses, [&](const auto& each) { return each->to() == to; }))
      continue;
    auto claimed = claim(to);
    if (!claimed) {
      disclaim(addresses);
      return std::unexpected{std::move(claimed).error()};
    }
    addresses.push_back(*std::move(claimed));
  }
  const auto number = [this] {
    const std::lock_guard guard{mutex_};
    return next_++;
  }();
  auto actor = make_lasting_actor(of_.system, weak_from_this(),
                                  {.number = number,
                                   .name = std::move(what.name),
                                   .interface = std::move(what.interface),
                                   .queue_bytes = options.queue,
                                   .retry = options.retry,
                                   .patience = bounded_wait(options.patience)});
  auto search = std::make_shared<target_search>(of_.io, actor,
                                                target_search::terms{.patience = options.patience,
                                                                     .give_up = options.give_up,
                                                                     .idle_close = options.idle_close,
                                                                     .events = std::move(options.events)},
                                                addresses, [weak = weak_from_this(), number] {
                                                  if (const auto self = weak.lock())
                                                    self->post_remove(number);
                                                });
  const std::lock_guard guard{mutex_}; // Released before `actor` is dropped.
  if (has_ended_)                      // The addresses have ended as well.
    return std::unexpected{node_has_ended()};
  searches_.emplace(number, search);
  names_.insert(search->name());
  // Under the lock, so that end() posts its work later.
  post_to(*of_.io, [search] { search->begin(); });
  return actor;
}

/// Returns the address for one more handle.
std::expected<std::shared_ptr<kept_address>, node_error> lasting_office::claim(const dial_terms& to) {
  const std::lock_guard guard{mutex_};
  if (has_ended_)
    return std::unexpected{node_has_ended()};
  const auto [first, last] = addresses_.equal_range(to.address);
  for (auto known = first; known != last; ++known)
    if (const auto& at = known->second.at; !at->is_given_up() && at->to() == to) {
      ++known->second.handles;
      return at;
    }
  auto made = std::make_shared<kept_address>(*of_.io, to, of_.keep);
  if (auto prepared = made->prepare(); !prepared)
    return std::unexpected{std::move(prepared).error()};
  addresses_.emplace(to.address, shared_address{.at = made, .handles = 1});
  return made;
}

void lasting_office::disclaim(const std::vector<std::shared_ptr<kept_address>>& all) {
  const std::lock_guard guard{mutex_};
  for (const auto& each : all) {
    const auto [first, last] = addresses_.equal_range(each->to().address);
    const auto known = std::find_if(first, last, [&](const auto& one) { return one.second.at == each; });
    if (known == last || --known->second.handles > 0)
      continue;
    addresses_.erase(known);
    post_to(*of_.io, [each] { each->end(); });
  }
}

/// Only names that handles want are kept, each once. So a peer cannot fill this process with news.
void lasting_office::name_changed(std::uint64_t link, const std::string& name) {
  const std::lock_guard guard{mutex_};
  if (has_ended_ || !names_.contains(name) || !changed_.emplace(link, name).second || changed_.size() > 1)
    return;
  post_to(*of_.io, [weak = weak_from_this()] {
    if (const auto self = weak.lock())
      self->tell_changes();
  });
}

/// On the I/O thread.
void lasting_office::tell_changes() {
  std::set<std::pair<std::uint64_t, std::string>> changed;
  std::vector<std::shared_ptr<kept_address>> all;
  {
    const std::lock_guard guard{mutex_};
    changed.swap(changed_);
    for (const auto& [address, each] : addresses_)
      all.push_back(each.at);
  }
  for (const auto& each : all)
    for (const auto& [link, name] : changed)
      if (const auto its = each->link(); its && its->number() == link)
        each->name_changed(name);
}

void lasting_office::end() {
  std::map<std::uint64_t, std::shared_ptr<target_search>> searches;
  std::unordered_multimap<std::string, shared_address> addresses;
  const std::lock_guard guard{mutex_};
  has_ended_ = true;
  searches.swap(searches_);
  addresses.swap(addresses_);
  post_to(*of_.io, [searches = std::move(searches), addresses = std::move(addresses)] {
    for (const auto& [number, search] : searches)
      search->end(node_has_ended());
    for (const auto& [address, each] : addresses)
      each.at->end();
  });
}

std::shared_ptr<target_search> lasting_office::search_of(std::uint64_t handle) {
  const std::lock_guard guard{mutex_};
  const auto found = searches_.find(handle);
  return found == searches_.end() ? nullptr : found->second;
}

void lasting_office::is_away(std::uint64_t handle) {
  if (auto search = search_of(handle))
    post_to(*of_.io, [search = std::move(search)] { search->is_away(); });
}

/// May run in the destructor of an actor.
void lasting_office::is_dropped(std::uint64_t handle) noexcept {
  try {
    post_remove(handle);
  } catch (...) { // No memory: the search stays until the node ends.
  }
}

void lasting_office::post_remove(std::uint64_t handle) {
  const std::lock_guard guard{mutex_};
  if (!has_ended_)
    post_to(*of_.io, [weak = weak_from_this(), handle] {
      if (const auto self = weak.lock())
        self->remove(handle);
    });
}

/// On the I/O thread.
void lasting_office::remove(std::uint64_t handle) {
  std::shared_ptr<target_search> search;
  {
    const std::lock_guard guard{mutex_};
    const auto found = searches_.find(handle);
    if (found == searches_.end())
      return;
    search = std::move(found->second);
    searches_.erase(found);
    names_.extract(search->name()); // One of them.
  }
  search->end(node_has_ended());
  disclaim(search->addresses());
}

} // namespace troupe::internal
