#include <troupe/framework/cluster/internal/membership/cluster_view.hpp>

#include <algorithm>
#include <utility>
#include <vector>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/cluster/internal/membership/entry_keys.hpp>
#include <troupe/framework/cluster/internal/membership/member_record.hpp>
#include <troupe/framework/cluster/internal/membership/order_record.hpp>

namespace troupe::membership {

namespace {

constexpr std::size_t skipped_max = 1'000;

} // namespace

using enum cluster_event::kind;

bool cluster_view::slot::has(std::string_view name) const {
  const auto found = names.find(name);
  return member && found != names.end() && found->second == lease;
}

std::set<std::string> cluster_view::slot::visible() const {
  std::set<std::string> all;
  if (member)
    for (const auto& [name, its_lease] : names)
      if (its_lease == lease)
        all.insert(name);
  return all;
}

cluster_view::events cluster_view::reset(std::span<const directory_entry> all) {
  const auto owned_before = owners();
  const auto ordered_before = ordered();
  const auto kinds_before = kinds();
  const auto before = std::exchange(slots_, {});
  claims_.clear();
  const auto kinds_known = std::exchange(kinds_, {});
  orders_.clear();
  unreadable_.clear();
  bytes_ = 0;
  // If there are too many, those that are known stay.
  std::vector<const directory_entry*> unknown;
  for (const auto& entry : all)
    if (const auto member = member_in(entry.key); member && *member != most_.kept && !before.contains(*member))
      unknown.push_back(&entry);
    else if (member)
      take(entry);
  for (const auto* const entry : unknown)
    take(*entry);
  for (const auto& entry : all)
    if (!member_in(entry.key))
      take(entry);
  for (auto& [name, of] : kinds_)
    if (const auto known = kinds_known.find(name); known != kinds_known.end())
      of.keep_pasts(known->second);
  events told;
  for (const auto& [name, was] : before)
    if (!slots_.contains(name))
      tell_difference(was, {}, told);
  for (const auto& [name, is] : slots_) {
    const auto was = before.find(name);
    tell_difference(was == before.end() ? slot{} : was->second, is, told);
  }
  tell_moves(owned_before, *this, told);
  std::set<std::string> concerned{kinds_before.begin(), kinds_before.end()};
  for (const auto& [name, of] : kinds_)
    concerned.insert(name);
  for (const auto& kind : concerned)
    told.push_back({.what = entities_moved, .name = kind});
  tell_orders(ordered_before, *this, told);
  return told;
}

cluster_view::events cluster_view::apply(std::span<const directory_change> changes) {
  const auto owned_before = owners();
  const auto ordered_before = ordered();
  slots before;                    // Of the members that are concerned.
  std::set<std::string> concerned; // Kinds of entities.
  const auto keep = [&](std::string_view member) {
    if (!before.contains(member)) {
      const auto found = slots_.find(member);
      before.emplace(member, found == slots_.end() ? slot{} : found->second);
    }
  };
  for (const auto& change : changes) {
    const auto& key = change.entry.key;
    if (const auto member = member_in(key))
      keep(*member);
    else if (const auto name = published_name_in(key))
      keep(name->member);
    else if (const auto shard = shard_in(key))
      concerned.insert(shard->kind);
    else if (const auto kind = kind_in(key))
      concerned.insert(*kind);
    if (change.what == directory_change::kind::put) {
      take(change.entry);
      continue;
    }
    const auto shard = shard_in(key);
    const auto is_handed_over = shard && hands_over(change, changes);
    take_away(key);
    if (is_handed_over)
      kinds_[shard->kind].pasts[shard->shard].is_handed_over = true;
  }
  events told;
  for (const auto& [name, was] : before) {
    const auto is = slots_.find(name);
    tell_difference(was, is == slots_.end() ? slot{} : is->second, told);
  }
  tell_moves(owned_before, *this, told);
  // A member may be known only after the shards that it owns.
  if (std::ranges::any_of(told, [](const auto& one) { return one.what == member_up || one.what == member_down; }))
    for (const auto& [name, of] : kinds_)
      concerned.insert(name);
  for (const auto& kind : concerned)
    told.push_back({.what = entities_moved, .name = kind});
  tell_orders(ordered_before, *this, told);
  return told;
}

/// Whether the owner has removed the shard's entry itself, and not its lease; see format.md.
bool cluster_view::hands_over(const directory_change& removal, std::span<const directory_change> all) const {
  const auto shard = shard_in(removal.entry.key);
  const auto kind = kinds_.find(shard->kind);
  if (kind == kinds_.end())
    return false;
  const auto owned = kind->second.claims.find(shard->shard);
  if (owned == kind->second.claims.end() || !counts(owned->second))
    return false;
  const auto spoils = [&, owner = member_key(owned->second.member), of = kind_key(shard->kind)](const auto& other) {
    return other.entry.changed_revision == removal.entry.changed_revision
           && (other.entry.key == owner || other.entry.key == of);
  };
  return std::ranges::none_of(all, spoils);
}

void cluster_view::shard_past::take(std::uint64_t fence) {
  if (fence == last)
    return;
  if (last == 0) // The owner before is not known.
    oldest = fence;
  else if (!is_handed_over)
    oldest = last;
  last = fence;
  is_handed_over = false;
}

/// If no shard was taken since then, all that was known still holds. Otherwise, owners that are still there do.
void cluster_view::known_kind::keep_pasts(const known_kind& from) {
  for (const auto& [shard, was] : from.pasts) {
    const auto now = pasts.find(shard);
    if (now != pasts.end() ? now->second.last == was.last : moved == from.moved && moved != 0)
      pasts[shard] = was;
  }
}

void cluster_view::skip(const std::string& key, std::string why) {
  if (unreadable_.size() < skipped_max)
    unreadable_.insert_or_assign(key, std::move(why));
}

/// If there is room, the bytes count from now on.
bool cluster_view::has_room(const std::string& key, std::uint64_t bytes) {
  if (bytes > most_.bytes - bytes_) {
    skip(key, "the entries of the cluster have more than " + grouped(most_.bytes) + " bytes");
    return false;
  }
  bytes_ += bytes;
  return true;
}

void cluster_view::take(const directory_entry& entry) {
  take_away(entry.key); // Also if the new value cannot be read.
  if (auto name = member_in(entry.key))
    return take_member(*std::move(name), entry);
  if (const auto published = published_name_in(entry.key)) {
    const auto of = slots_.find(published->member);
    if (of == slots_.end() && slots_.size() >= most_.members)
      return skip(entry.key, "more than " + grouped(most_.members) + " members have published names");
    if (of != slots_.end() && of->second.names.size() >= most_.names)
      return skip(entry.key, "the member has published more than " + grouped(most_.names) + " names");
    if (has_room(entry.key, entry.key.size()))
      slots_[published->member].names[published->name] = entry.lease;
    return;
  }
  if (auto singleton = singleton_in(entry.key)) {
    if (claims_.size() >= most_.singletons)
      return skip(entry.key, "the cluster has more than " + grouped(most_.singletons) + " singletons");
    if (has_room(entry.key, entry.key.size() + entry.value.size()))
      claims_.insert_or_assign(*std::move(singleton), claim{entry.value, entry.lease, entry.created_revision});
    return;
  }
  if (const auto shard = shard_in(entry.key)) {
    if (!kinds_.contains(shard->kind) && kinds_.size() >= most_.singletons)
      return skip(entry.key, "the cluster has more than " + grouped(most_.singletons) + " kinds of entities");
    if (!has_room(entry.key, entry.key.size() + entry.value.size()))
      return;
    auto& of = kinds_[shard->kind];
    of.claims.insert_or_assign(shard->shard, claim{entry.value, entry.lease, entry.created_revision});
    of.pasts[shard->shard].take(entry.created_revision);
    return;
  }
  if (auto kind = kind_in(entry.key)) {
    const auto read = read_kind_record(entry.value);
    if (!read)
      return skip(entry.key, read.error());
    if (!kinds_.contains(*kind) && kinds_.size() >= most_.singletons)
      return skip(entry.key, "the cluster has more than " + grouped(most_.singletons) + " kinds of entities");
    auto& of = kinds_[*std::move(kind)];
    of.shards = *read;
    of.moved = entry.changed_revision;
    return;
  }
  if (const auto member = ordered_member_in(entry.key)) {
    auto read = read_order_record(*member, entry.value);
    orders_.erase(*member);
    if (!read)
      return skip(entry.key, read.error());
    if (orders_.size() >= most_.members)
      return skip(entry.key, "the cluster has more than " + grouped(most_.members) + " orders");
    orders_.emplace(*member, *std::move(read));
  }
}

void cluster_view::take_member(std::string name, const directory_entry& entry) {
  auto read = read_member_record(name, entry.value);
  if (!read)
    return skip(entry.key, read.error());
  if (!slots_.contains(name) && slots_.size() >= most_.members && name != most_.kept)
    return skip(entry.key, "the cluster has more than " + grouped(most_.members) + " members");
  const auto bytes = entry.key.size() + entry.value.size();
  if (!has_room(entry.key, bytes))
    return;
  auto& of = slots_[std::move(name)];
  of.member = *std::move(read);
  of.lease = entry.lease;
  of.bytes = bytes;
}

void cluster_view::take_away(const std::string& key) {
  unreadable_.erase(key);
  const auto name = member_in(key);
  const auto published = name ? std::nullopt : published_name_in(key);
  if (name || published) {
    const auto at = slots_.find(name ? *name : published->member);
    if (at == slots_.end())
      return;
    auto& of = at->second;
    if (published) {
      bytes_ -= of.names.erase(published->name) > 0 ? key.size() : 0;
    } else {
      bytes_ -= std::exchange(of.bytes, 0);
      of.member.reset();
      of.lease = 0;
    }
    if (!of.member && of.names.empty())
      slots_.erase(at);
    return;
  }
  if (const auto singleton = singleton_in(key)) {
    if (const auto found = claims_.find(*singleton); found != claims_.end()) {
      bytes_ -= key.size() + found->second.member.size();
      claims_.erase(found);
    }
  } else if (const auto shard = shard_in(key)) {
    const auto of = kinds_.find(shard->kind);
    if (of == kinds_.end())
      return;
    if (const auto found = of->second.claims.find(shard->shard); found != of->second.claims.end()) {
      bytes_ -= key.size() + found->second.member.size();
      of->second.claims.erase(found);
    }
  } else if (const auto kind = kind_in(key)) {
    if (const auto of = kinds_.find(*kind); of != kinds_.end())
      of->second.shards = 0;
  } else if (const auto member = ordered_member_in(key)) {
    orders_.erase(*member);
  }
}

void cluster_view::tell_difference(const slot& before, const slot& after, events& told) {
  const auto is_same = before.member && after.member && before.member->incarnation == after.member->incarnation;
  const auto was = before.visible();
  const auto is = after.visible();
  if (before.member) {
    for (const auto& name : was)
      if (!is_same || !is.contains(name))
        told.push_back({.what = name_gone, .member = *before.member, .name = name});
    if (!is_same)
      told.push_back({.what = member_down, .member = *before.member});
  }
  if (!after.member)
    return;
  if (!is_same)
    told.push_back({.what = member_up, .member = *after.member});
  else if (*before.member != *after.member)
    told.push_back({.what = member_changed, .member = *after.member});
  for (const auto& name : is)
    if (!is_same || !was.contains(name))
      told.push_back({.what = name_added, .member = *after.member, .name = name});
}

std::vector<cluster_member> cluster_view::members() const {
  std::vector<cluster_member> all;
  for (const auto& [name, of] : slots_)
    if (of.member)
      all.push_back(*of.member);
  return all;
}

std::optional<cluster_member> cluster_view::member(std::string_view name) const {
  const auto found = slots_.find(name);
  return found == slots_.end() ? std::nullopt : found->second.member;
}

std::vector<cluster_member> cluster_view::providers(std::string_view name) const {
  std::vector<cluster_member> all;
  for (const auto& [member, of] : slots_)
    if (of.has(name))
      all.push_back(*of.member);
  return all;
}

bool cluster_view::counts(const claim& of) const {
  const auto found = slots_.find(of.member);
  return found != slots_.end() && found->second.lease == of.lease && found->second.member;
}

std::optional<cluster_member> cluster_view::owner(std::string_view singleton) const {
  const auto claimed = claims_.find(singleton);
  return claimed != claims_.end() && counts(claimed->second) ? member(claimed->second.member) : std::nullopt;
}

std::uint64_t cluster_view::singleton_revision(std::string_view name) const {
  const auto claimed = claims_.find(name);
  return claimed == claims_.end() ? 0 : claimed->second.revision;
}

std::size_t cluster_view::shards(std::string_view kind) const {
  const auto of = kinds_.find(kind);
  return of == kinds_.end() ? 0 : of->second.shards;
}

std::vector<std::string> cluster_view::shard_owners(std::string_view kind) const {
  std::vector<std::string> all(shards(kind));
  if (const auto of = kinds_.find(kind); of != kinds_.end())
    for (const auto& [shard, claimed] : of->second.claims)
      if (shard < all.size() && counts(claimed))
        all[shard] = claimed.member;
  return all;
}

std::vector<cluster_view::shard_past> cluster_view::shard_pasts(std::string_view kind) const {
  std::vector<shard_past> all(shards(kind));
  if (const auto of = kinds_.find(kind); of != kinds_.end())
    for (const auto& [shard, past] : of->second.pasts)
      if (shard < all.size())
        all[shard] = past;
  return all;
}

std::vector<std::pair<shard_name, std::string>> cluster_view::owned_shards() const {
  std::vector<std::pair<shard_name, std::string>> all;
  for (const auto& [kind, of] : kinds_)
    for (const auto& [shard, claimed] : of.claims)
      if (shard < of.shards && counts(claimed))
        all.emplace_back(shard_name{kind, shard}, claimed.member);
  return all;
}

std::vector<std::string> cluster_view::kinds() const {
  std::vector<std::string> all;
  for (const auto& [name, of] : kinds_)
    if (of.shards > 0)
      all.push_back(name);
  return all;
}

cluster_view::owner_names cluster_view::owners() const {
  owner_names all;
  for (const auto& [name, claimed] : claims_)
    if (const auto by = owner(name))
      all.emplace(name, by->name + '\n' + by->incarnation);
  return all;
}

std::vector<std::pair<std::string, std::string>> cluster_view::singletons() const {
  std::vector<std::pair<std::string, std::string>> all;
  for (const auto& [name, claimed] : claims_)
    if (const auto by = owner(name))
      all.emplace_back(name, by->name);
  return all;
}

void cluster_view::tell_moves(const owner_names& before, const cluster_view& now, events& told) {
  const auto after = now.owners();
  for (const auto& [name, member] : before)
    if (!after.contains(name))
      told.push_back({.what = singleton_moved, .name = name});
  for (const auto& [name, member] : after)
    if (const auto was = before.find(name); was == before.end() || was->second != member)
      told.push_back({.what = singleton_moved, .member = *now.owner(name), .name = name});
}

std::optional<drain_order> cluster_view::order_to(std::string_view member) const {
  const auto order = orders_.find(member);
  if (order == orders_.end())
    return std::nullopt;
  const auto found = slots_.find(member);
  if (found == slots_.end() || !found->second.member || found->second.member->incarnation != order->second.incarnation)
    return std::nullopt;
  return order->second;
}

std::vector<drain_order> cluster_view::orders() const {
  std::vector<drain_order> all;
  for (const auto& [member, order] : orders_)
    if (order_to(member))
      all.push_back(order);
  return all;
}

cluster_view::ordered_members cluster_view::ordered() const {
  ordered_members all;
  for (const auto& [member, order] : orders_)
    if (order_to(member))
      all.emplace(member, *slots_.at(member).member);
  return all;
}

void cluster_view::tell_orders(const ordered_members& before, const cluster_view& now, events& told) {
  const auto after = now.ordered();
  for (const auto& [name, member] : before) {
    const auto is = now.member(name);
    if (is && is->incarnation == member.incarnation && !after.contains(name))
      told.push_back({.what = drain_cancelled, .member = *is});
  }
  for (const auto& [name, member] : after)
    if (const auto was = before.find(name); was == before.end() || was->second.incarnation != member.incarnation)
      told.push_back({.what = drain_ordered, .member = member});
}

std::string cluster_view::fault_of(std::string_view member, std::uint64_t lease) const {
  const auto found = slots_.find(member);
  if (found == slots_.end() || !found->second.member)
    return "the member " + std::string{member} + " is not up";
  return found->second.lease == lease ? "" : "it has another lease than the entry of " + std::string{member};
}

std::map<std::string, std::string> cluster_view::left_over() const {
  std::map<std::string, std::string> all;
  const auto look_at = [&](std::string key, std::string fault) {
    if (!fault.empty())
      all.emplace(std::move(key), std::move(fault));
  };
  for (const auto& [member, of] : slots_)
    for (const auto& [name, lease] : of.names)
      look_at(name_key(member, name), fault_of(member, lease));
  for (const auto& [name, claimed] : claims_)
    look_at(singleton_key(name), fault_of(claimed.member, claimed.lease));
  for (const auto& [kind, of] : kinds_)
    for (const auto& [shard, claimed] : of.claims)
      look_at(shard_key(kind, shard), fault_of(claimed.member, claimed.lease));
  for (const auto& [member, order] : orders_)
    if (!order_to(member))
      look_at(order_key(member), "the process that it is for is gone");
  return all;
}

bool cluster_view::has_lease(std::string_view member) const {
  const auto found = slots_.find(member);
  return found != slots_.end() && found->second.lease != 0;
}

std::vector<std::string> cluster_view::names_of(std::string_view member) const {
  const auto found = slots_.find(member);
  if (found == slots_.end())
    return {};
  const auto visible = found->second.visible();
  return {visible.begin(), visible.end()};
}

std::vector<std::pair<std::string, std::string>> cluster_view::names() const {
  std::vector<std::pair<std::string, std::string>> all;
  for (const auto& [member, of] : slots_)
    for (const auto& name : of.visible())
      all.emplace_back(name, member);
  return all;
}

} // namespace troupe::membership
