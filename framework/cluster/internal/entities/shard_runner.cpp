#include <troupe/framework/cluster/internal/entities/shard_runner.hpp>

#include <algorithm>
#include <string>
#include <utility>

#include <caf/make_message.hpp>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/cluster/internal/entities/shard_map.hpp>
#include <troupe/framework/cluster/internal/membership/boot_clock.hpp>
#include <troupe/framework/cluster/internal/membership/entry_keys.hpp>
#include <troupe/framework/cluster/internal/membership/member_record.hpp>
#include <troupe/framework/node_error.hpp>

namespace troupe::membership {

namespace {

using namespace std::chrono_literals;

// Shards move to members that have come only after the members have not changed for this time.
constexpr auto settling_time = 500ms;
constexpr auto idle_look = 1s;
constexpr auto busy_look = 50ms;
constexpr auto release_look = 5ms;
// A shard whose entry was not free is tried again after this time, in case its removal was not told.
constexpr auto taken_pause = 2s;

} // namespace

shard_runner::shard_runner(parts of) : of_(std::move(of)), fences_(of_.shards), placed_(of_.shards) {
  auto entities = of_.entities;
  entities.count = count_;
  entities.on_end = [bell = bell_] { bell->ring(); };
  entities_ = std::make_shared<const entity_shard::parts>(std::move(entities));
  thread_ = std::thread{[this] { run(); }};
}

shard_runner::~shard_runner() {
  if (thread_.joinable())
    end(clock::now());
}

void shard_runner::end(clock::time_point until) {
  withdraw(true);
  {
    std::unique_lock guard{bell_->mutex};
    bell_->rung.wait_until(guard, until, [this] { return !bell_->has_shards; });
    bell_->ends = true;
  }
  bell_->rung.notify_all();
  thread_.join();
  for (auto& [number, one] : owned_) {
    *one.is_over = true;
    one.shard->leave(clock::now(), true);
    one.shard->sweep(clock::now());
    of_.region->remove(number);
    one.shard->hand_over(of_.pass_on);
  }
}

void shard_runner::bell::ring() {
  {
    const std::lock_guard guard{mutex};
    is_rung = true;
  }
  rung.notify_all();
}

void shard_runner::wake() {
  bell_->ring();
}

void shard_runner::withdraw(bool is_wanted) {
  {
    const std::lock_guard guard{bell_->mutex};
    bell_->is_withdrawn = is_wanted;
  }
  bell_->ring();
}

std::vector<std::uint64_t> shard_runner::fences() const {
  const std::lock_guard guard{mutex_};
  return fences_;
}

void shard_runner::run() {
  for (;;) {
    const auto next = step();
    std::unique_lock guard{bell_->mutex};
    bell_->has_shards = !owned_.empty() || !taken_.empty();
    if (!bell_->has_shards)
      bell_->rung.notify_all();
    bell_->rung.wait_until(guard, next, [this] { return bell_->is_rung || bell_->ends; });
    bell_->is_rung = false;
    if (bell_->ends)
      return;
  }
}

bool shard_runner::is_sure(const held_lease& lease) const {
  return lease.is_sure(boot_clock::now() + of_.margin);
}

shard_runner::clock::time_point shard_runner::step() {
  auto is_withdrawn = false;
  {
    const std::lock_guard guard{bell_->mutex};
    is_withdrawn = bell_->is_withdrawn;
  }
  const auto seen = of_.look();
  const auto lease = of_.lease();
  const auto wanted = placed_here(seen, is_withdrawn);
  begin_taken(seen, lease);
  give_up(seen, wanted, is_withdrawn, lease);
  const auto leaves = [](const auto& one) { return one.second.leaves; };
  if (clock::now() >= next_sweep_) {
    for (auto& [number, one] : owned_)
      one.shard->sweep(clock::now());
    const auto idle_after = of_.entities.options.idle_after;
    next_sweep_ = clock::now()
                  + (std::ranges::any_of(owned_, leaves) ? busy_look
                     : idle_after > 0ms                  ? std::clamp<clock::duration>(idle_after / 4, 10ms, 1s)
                                                         : idle_look);
  }
  // One request, because it takes time, in which deadlines may come.
  has_requested_ = false;
  if (clock::now() >= next_request_ && is_sure(lease)) {
    write_remembered();
    if (!has_requested_ && !is_withdrawn)
      acquire(seen, wanted, lease);
    if (!has_requested_ && !is_withdrawn)
      start_remembered();
  }
  release(lease);
  if (has_requested_)
    return clock::now();
  auto next = std::min<clock::time_point>(clock::now() + idle_look, next_sweep_);
  if (is_sure(lease)) {
    const auto left = lease.sure_until - of_.margin - boot_clock::now();
    next = std::min(next, clock::now() + std::max<clock::duration>(left, 1ms));
  }
  if (std::ranges::any_of(owned_, [](const auto& one) { return one.second.leaves && one.second.shard->has_left(); }))
    next = std::min<clock::time_point>(next, clock::now() + release_look);
  if (next_request_ > clock::now())
    next = std::min(next, next_request_);
  return next;
}

std::vector<bool> shard_runner::placed_here(const picture& now, bool is_withdrawn) {
  if (now.hosts != last_hosts_) {
    last_hosts_ = now.hosts;
    hosts_since_ = clock::now();
    const auto self = std::ranges::find(now.hosts, of_.self);
    for (std::uint32_t i = 0; i < of_.shards; ++i)
      placed_[i] = self != now.hosts.end()
                   && place_of(of_.kind, i, now.hosts) == static_cast<std::size_t>(self - now.hosts.begin());
  }
  return is_withdrawn ? std::vector<bool>(of_.shards) : placed_;
}

void shard_runner::give_up(const picture& seen, const std::vector<bool>& wanted, bool is_withdrawn,
                           const held_lease& lease) {
  const auto now = clock::now();
  const auto may_move = is_withdrawn || now - hosts_since_ >= settling_time;
  const auto sure = is_sure(lease);
  const auto& options = of_.entities.options;
  std::vector<std::uint32_t> left;
  for (auto& [number, one] : owned_) {
    const auto is_shown = number < seen.owners.size() && seen.owners[number] == of_.self;
    // Somebody may have removed or replaced the entry, unless the news of it is on its way.
    const auto is_lost = one.lease != lease.id || (!is_shown && seen.revision >= one.fence);
    if (one.lease == lease.id)
      one.sure_until = lease.sure_until;
    const auto must_hurry = !sure || is_lost;
    if (must_hurry ? one.hurries : one.leaves || wanted[number] || !may_move)
      continue;
    *one.is_over = true;
    auto kill_at = now + options.end_within;
    if (is_lost)
      kill_at = now;
    else if (must_hurry)
      kill_at = std::min(
          kill_at, now + std::max<clock::duration>(lease.sure_until - boot_clock::now(), clock::duration::zero()));
    one.shard->leave(kill_at, is_lost);
    if (!std::exchange(one.leaves, true))
      left.push_back(number);
    one.hurries = must_hurry;
    next_sweep_ = now;
  }
  if (!left.empty())
    set_fence(left, 0);
}

void shard_runner::release(const held_lease& lease) {
  std::vector<std::uint32_t> gone;
  std::vector<std::uint32_t> removed;
  for (const auto& [number, one] : owned_) {
    // What is handed over must not come back here.
    if (!one.leaves || !one.shard->has_left() || of_.leads_here(number))
      continue;
    if (one.lease != lease.id)
      gone.push_back(number); // The directory has removed the entry.
    else if (removed.size() < directory::writes_max - 1 && !has_unwritten(number))
      removed.push_back(number);
  }
  if (!removed.empty() && !has_requested_ && clock::now() >= next_request_ && remove_entries(removed))
    gone.insert(gone.end(), removed.begin(), removed.end());
  for (const auto number : gone) {
    const auto one = owned_[number];
    owned_.erase(number);
    tell_unmade();
    const auto is_late = (one.is_gone || one.lease != lease.id) && boot_clock::now() >= one.sure_until;
    one.shard->hand_over(is_late ? refuser(number) : of_.pass_on);
    of_.region->remove(number);
  }
}

/// For messages that would arrive after later ones.
entity_region::passer shard_runner::refuser(std::uint32_t number) const {
  return [kind = of_.kind, number](const entity_address& to, relayed_message what) {
    if (to.is_marker)
      std::move(what).answer(caf::make_message(std::uint32_t{1}));
    else
      std::move(what).fail({node_errc::child_lost, "the lease of the member that owned the shard "
                                                       + std::to_string(number) + " of the kind " + kind
                                                       + " has ended"});
  };
}

/// Says that shards were taken, or that their release does not tell all about the order of their messages (format.md).
directory_write shard_runner::mark_of_kind() const {
  return {.key = kind_key(of_.kind), .value = kind_record(of_.shards)};
}

/// True if the entries are not those of this run any more.
bool shard_runner::remove_entries(const std::vector<std::uint32_t>& those) {
  std::vector<directory_condition> conditions;
  std::vector<directory_write> writes;
  if (std::ranges::any_of(those, [this](auto number) { return of_.region->order(number)->knows_cuts(); }))
    writes.push_back(mark_of_kind());
  for (const auto number : those) {
    const auto key = shard_key(of_.kind, number);
    conditions.push_back({.key = key, .what = directory_condition::kind::created_at, .revision = owned_[number].fence});
    writes.push_back({.key = key, .what = directory_write::kind::remove});
  }
  has_requested_ = true;
  const auto done = of_.where->commit(conditions, writes);
  if (!done) {
    fail_requests(done.error());
    return false;
  }
  note_success();
  if (done->is_applied)
    return true;
  if (those.size() == 1) {
    owned_[those.front()].is_gone = true;
    return true;
  }
  for (const auto number : those) // Some are gone already.
    if (!remove_entries({number}))
      return false;
  return true;
}

void shard_runner::acquire(const picture& now, const std::vector<bool>& wanted, const held_lease& lease) {
  std::vector<std::uint32_t> free;
  for (std::uint32_t i = 0; i < now.owners.size() && i < of_.shards; ++i) {
    const auto is_taken = std::ranges::any_of(
        taken_, [i](const auto& one) { return std::ranges::find(one.numbers, i) != one.numbers.end(); });
    if (!wanted[i] || !now.owners[i].empty() || owned_.contains(i) || is_taken)
      continue;
    const auto blocked = not_before_.find(i);
    if (blocked == not_before_.end() || blocked->second <= clock::now())
      free.push_back(i);
  }
  if (free.empty())
    return;
  has_requested_ = true;
  free.resize(std::min(free.size(), directory::writes_max - 1)); // The others follow in the next steps.
  std::vector<directory_condition> conditions;
  std::vector<directory_write> writes;
  for (const auto number : free) {
    conditions.push_back({.key = shard_key(of_.kind, number)});
    writes.push_back({.key = conditions.back().key, .value = of_.self, .lease = lease.id});
  }
  writes.push_back(mark_of_kind());
  const auto taken = of_.where->commit(conditions, writes);
  if (!taken)
    return fail_requests(taken.error());
  note_success();
  if (taken->is_applied) {
    taken_.push_back({std::move(free), taken->revision, lease.id});
    return;
  }
  std::vector<directory_condition> stale;
  std::vector<directory_write> removals;
  for (const auto& entry : taken->found) {
    const auto shard = shard_in(entry.key);
    if (!shard)
      continue;
    if (entry.lease == lease.id) { // The answer to an earlier request was lost, or came too late.
      stale.push_back(
          {.key = entry.key, .what = directory_condition::kind::created_at, .revision = entry.created_revision});
      removals.push_back({.key = entry.key, .what = directory_write::kind::remove});
    } else {
      not_before_[shard->shard] = clock::now() + taken_pause;
    }
  }
  if (stale.empty())
    return;
  if (const auto done = of_.where->commit(stale, removals); !done)
    fail_requests(done.error());
}

/// The news of the entries comes after that of all earlier ones.
void shard_runner::begin_taken(const picture& seen, const held_lease& lease) {
  for (const auto& one : std::exchange(taken_, {}))
    if (one.lease != lease.id)
      continue; // The directory has removed the entries.
    else if (seen.revision < one.fence || !is_sure(lease))
      taken_.push_back(one);
    else
      begin(one, seen);
}

void shard_runner::begin(const taken_shards& those, const picture& seen) {
  const auto fence = those.fence;
  const auto lease = those.lease;
  for (const auto number : those.numbers) {
    not_before_.erase(number);
    const auto past = number < seen.pasts.size() ? seen.pasts[number] : cluster_view::shard_past{};
    auto order = of_.region->order(number);
    order->own(fence, past.last == fence ? past.oldest : fence);
    auto is_over = std::make_shared<std::atomic<bool>>(false);
    ownership own{fence, [lease, is_over, now = of_.lease, margin = of_.margin] {
                    const auto held = now();
                    return !*is_over && held.id == lease && held.is_sure(boot_clock::now() + margin);
                  }};
    std::function<void(const std::string&, bool)> remember;
    if (of_.entities.options.remember)
      remember = [bell = bell_, number, kind = of_.kind](const std::string& key, bool is_running) {
        if (remembered_key(kind, number, key).size() > directory::key_bytes_max)
          return; // entity_options::remember says so.
        {
          const std::lock_guard guard{bell->mutex};
          bell->remembered.push_back({number, key, is_running});
        }
        bell->ring();
      };
    auto shard = std::make_shared<entity_shard>(entities_, std::move(own), std::move(order), std::move(remember));
    of_.region->put(number, shard);
    owned_[number] = {.lease = lease, .fence = fence, .shard = std::move(shard), .is_over = std::move(is_over)};
  }
  {
    const std::lock_guard guard{bell_->mutex};
    bell_->has_shards = true;
  }
  set_fence(those.numbers, fence);
  if (of_.entities.options.remember)
    unread_.insert(those.numbers.begin(), those.numbers.end());
}

void shard_runner::start_remembered() {
  std::erase_if(unread_, [this](std::uint32_t number) { return !owned_.contains(number) || owned_[number].leaves; });
  if (unread_.empty())
    return;
  has_requested_ = true;
  const auto listed = of_.where->list(remembered_prefix_of(of_.kind));
  if (!listed)
    return fail_requests(listed.error());
  note_success();
  for (const auto& entry : listed->entries)
    if (const auto known = remembered_in(entry.key); known && unread_.contains(known->shard)
                                                     && shard_of(known->key, of_.shards) == known->shard
                                                     && !owned_[known->shard].shard->start(known->key))
      ++owned_[known->shard].unmade;
  unread_.clear();
  tell_unmade();
}

/// Tells how many remembered entities of the shards that are owned have found no room.
void shard_runner::tell_unmade() {
  std::size_t unmade = 0;
  for (const auto& [number, one] : owned_)
    unmade += one.unmade;
  if (unmade == told_unmade_)
    return;
  told_unmade_ = unmade;
  of_.entities.problem("remembering",
                       unmade == 0 ? std::string{}
                                   : grouped(unmade)
                                         + " remembered entities were not made, since this member runs "
                                           "entity_options::entities_most of the kind: "
                                         + grouped(of_.entities.options.entities_most)
                                         + ". A message makes them once there is room; more hosts or a higher bound do "
                                           "it at the next move of their shards");
}

bool shard_runner::has_unwritten(std::uint32_t shard) const {
  const std::lock_guard guard{bell_->mutex};
  return std::ranges::find(bell_->remembered, shard, &remembered_change::shard) != bell_->remembered.end();
}

void shard_runner::write_remembered() {
  std::vector<remembered_change> changes;
  {
    const std::lock_guard guard{bell_->mutex};
    changes.swap(bell_->remembered);
  }
  for (std::size_t done = 0; done < changes.size();) {
    const auto count = std::min(changes.size() - done, directory::writes_max);
    if (!write_changes({changes.data() + done, count})) {
      const std::lock_guard guard{bell_->mutex};
      bell_->remembered.insert(bell_->remembered.begin(), changes.begin() + static_cast<std::ptrdiff_t>(done),
                               changes.end());
      return;
    }
    done += count;
  }
}

/// False if the directory does not answer. Changes of shards that are not owned any more are dropped.
bool shard_runner::write_changes(std::span<const remembered_change> changes) {
  std::map<std::uint32_t, directory_condition> conditions;
  std::map<std::string, directory_write> writes; // The last change of a key counts.
  for (const auto& one : changes) {
    const auto of = owned_.find(one.shard);
    if (of == owned_.end())
      continue;
    conditions[one.shard] = {.key = shard_key(of_.kind, one.shard),
                             .what = directory_condition::kind::created_at,
                             .revision = of->second.fence};
    const auto key = remembered_key(of_.kind, one.shard, one.key);
    writes[key] = {.key = key, .what = one.is_running ? directory_write::kind::put : directory_write::kind::remove};
  }
  if (writes.empty())
    return true;
  std::vector<directory_condition> all_conditions;
  std::vector<directory_write> all_writes;
  for (auto& [shard, one] : conditions)
    all_conditions.push_back(std::move(one));
  for (auto& [key, one] : writes)
    all_writes.push_back(std::move(one));
  has_requested_ = true;
  const auto written = of_.where->commit(all_conditions, all_writes);
  if (!written && written.error().code() == directory_errc::invalid_argument) { // It will never be taken.
    if (changes.size() > 1)
      return std::ranges::all_of(changes, [this](const auto& one) { return write_changes({&one, 1}); });
    of_.problem("the entity " + changes.front().key + " cannot be remembered: " + written.error().message());
    return true;
  }
  if (!written) {
    fail_requests(written.error());
    return false;
  }
  note_success();
  if (!written->is_applied && changes.size() > 1) // One of the shards has been lost: the others count.
    return std::ranges::all_of(changes, [this](const auto& one) { return write_changes({&one, 1}); });
  return true;
}

void shard_runner::set_fence(const std::vector<std::uint32_t>& those, std::uint64_t fence) {
  {
    const std::lock_guard guard{mutex_};
    for (const auto number : those)
      fences_[number] = fence;
  }
  of_.on_change();
}

void shard_runner::note_success() {
  pause_.reset();
  if (std::exchange(has_problem_, false))
    of_.problem({});
}

void shard_runner::fail_requests(const directory_error& why) {
  of_.problem(why.message());
  has_problem_ = true;
  next_request_ = clock::now() + pause_.next();
}

} // namespace troupe::membership
