#include <troupe/framework/cluster/internal/entities/shard_runner.hpp>

#include <algorithm>
#include <utility>

#include <troupe/framework/cluster/internal/entities/shard_map.hpp>
#include <troupe/framework/cluster/internal/membership/boot_clock.hpp>
#include <troupe/framework/cluster/internal/membership/entry_keys.hpp>

namespace troupe::membership {

namespace {

using namespace std::chrono_literals;

// The longest wait of the destructor.
constexpr std::chrono::milliseconds longest_leaving{5'000};
// Shards move to members that have come only after the members have not changed for this time.
constexpr auto settling_time = 500ms;
constexpr auto idle_look = 1s;
constexpr auto busy_look = 50ms;
// A shard whose entry was not free is tried again after this time, in case its removal was not told.
constexpr auto taken_pause = 2s;

} // namespace

shard_runner::shard_runner(parts of) : of_(std::move(of)), own_(of_.shards) {
  auto entities = of_.entities;
  entities.count = count_;
  entities.on_end = [bell = bell_] { bell->ring(); };
  entities_ = std::make_shared<const entity_shard::parts>(std::move(entities));
  thread_ = std::thread{[this] { run(); }};
}

shard_runner::~shard_runner() {
  withdraw(true);
  {
    std::unique_lock guard{bell_->mutex};
    bell_->rung.wait_for(guard, std::min(of_.margin, longest_leaving), [this] { return !bell_->has_shards; });
    bell_->ends = true;
  }
  bell_->rung.notify_all();
  thread_.join();
  for (auto& [number, one] : owned_) {
    *one.is_over = true;
    one.shard->leave(clock::now());
    one.shard->sweep(clock::now());
    one.shard->hand_over(of_.elsewhere);
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

std::vector<bool> shard_runner::own() const {
  const std::lock_guard guard{mutex_};
  return own_;
}

void shard_runner::run() {
  for (;;) {
    const auto next = step();
    std::unique_lock guard{bell_->mutex};
    bell_->has_shards = !owned_.empty();
    if (owned_.empty())
      bell_->rung.notify_all();
    bell_->rung.wait_until(guard, next, [this] { return bell_->is_rung || bell_->ends; });
    bell_->is_rung = false;
    if (bell_->ends)
      return;
  }
}

shard_runner::clock::time_point shard_runner::step() {
  auto is_withdrawn = false;
  {
    const std::lock_guard guard{bell_->mutex};
    is_withdrawn = bell_->is_withdrawn;
  }
  const auto seen = of_.look();
  const auto lease = of_.lease();
  const auto is_sure = lease.is_sure(boot_clock::now() + of_.margin);
  const auto wanted = placed_here(seen, is_withdrawn);
  give_up(wanted, is_withdrawn, lease, is_sure);
  if (clock::now() >= next_sweep_) {
    for (auto& [number, one] : owned_)
      one.shard->sweep(clock::now());
    next_sweep_ = clock::now()
                  + (of_.entities.options.idle_after > 0ms
                         ? std::clamp<clock::duration>(of_.entities.options.idle_after / 4, 10ms, 1s)
                         : clock::duration{1s});
  }
  release(lease);
  if (clock::now() >= next_request_) {
    if (is_sure && !is_withdrawn)
      acquire(seen, wanted, lease);
    write_remembered();
  }
  auto next = std::min<clock::time_point>(clock::now() + idle_look, next_sweep_);
  if (is_sure) {
    const auto left = lease.sure_until - of_.margin - boot_clock::now();
    next = std::min(next, clock::now() + std::max<clock::duration>(left, 1ms));
  }
  if (std::ranges::any_of(owned_, [](const auto& one) { return one.second.leaves; }))
    next = std::min<clock::time_point>(next, clock::now() + busy_look);
  if (next_request_ > clock::now())
    next = std::min(next, next_request_);
  return next;
}

std::vector<bool> shard_runner::placed_here(const picture& now, bool is_withdrawn) {
  if (now.hosts != last_hosts_) {
    last_hosts_ = now.hosts;
    hosts_since_ = clock::now();
  }
  std::vector<bool> wanted(of_.shards);
  const auto self = std::ranges::find(now.hosts, of_.self);
  if (is_withdrawn || self == now.hosts.end())
    return wanted;
  const auto own_place = static_cast<std::size_t>(self - now.hosts.begin());
  for (std::uint32_t i = 0; i < of_.shards; ++i)
    wanted[i] = place_of(of_.kind, i, now.hosts) == own_place;
  return wanted;
}

void shard_runner::give_up(const std::vector<bool>& wanted, bool is_withdrawn, const held_lease& lease, bool is_sure) {
  const auto now = clock::now();
  const auto may_move = is_withdrawn || now - hosts_since_ >= settling_time;
  const auto& options = of_.entities.options;
  std::vector<std::uint32_t> left;
  for (auto& [number, one] : owned_) {
    const auto must_hurry = !is_sure || one.lease != lease.id;
    if (must_hurry ? one.hurries : one.leaves || wanted[number] || !may_move)
      continue;
    *one.is_over = true;
    one.shard->leave(now + (must_hurry ? std::min(options.end_within, of_.margin) : options.end_within));
    if (!std::exchange(one.leaves, true))
      left.push_back(number);
    one.hurries = must_hurry;
  }
  if (!left.empty()) {
    next_sweep_ = now;
    set_own(left, false);
  }
}

void shard_runner::release(const held_lease& lease) {
  std::vector<std::uint32_t> gone;
  std::vector<std::uint32_t> removed;
  for (const auto& [number, one] : owned_) {
    if (!one.leaves || !one.shard->has_left())
      continue;
    if (one.lease != lease.id)
      gone.push_back(number); // The directory has removed the entry.
    else if (removed.size() < directory::writes_max)
      removed.push_back(number);
  }
  if (!removed.empty() && clock::now() >= next_request_ && remove_entries(removed))
    gone.insert(gone.end(), removed.begin(), removed.end());
  for (const auto number : gone) {
    const auto shard = owned_[number].shard;
    owned_.erase(number);
    shard->hand_over(of_.elsewhere);
    of_.region->remove(number);
  }
}

/// True if the entries are not those of this run any more.
bool shard_runner::remove_entries(const std::vector<std::uint32_t>& those) {
  std::vector<directory_condition> conditions;
  std::vector<directory_write> writes;
  for (const auto number : those) {
    const auto key = shard_key(of_.kind, number);
    conditions.push_back({.key = key, .what = directory_condition::kind::created_at, .revision = owned_[number].fence});
    writes.push_back({.key = key, .what = directory_write::kind::remove});
  }
  const auto done = of_.where->commit(conditions, writes);
  if (!done) {
    fail_requests(done.error());
    return false;
  }
  pause_.reset();
  if (done->is_applied || those.size() == 1)
    return true;
  for (const auto number : those) // Some are gone already.
    if (!remove_entries({number}))
      return false;
  return true;
}

void shard_runner::acquire(const picture& now, const std::vector<bool>& wanted, const held_lease& lease) {
  std::vector<std::uint32_t> free;
  for (std::uint32_t i = 0; i < now.owners.size() && i < of_.shards; ++i) {
    if (!wanted[i] || !now.owners[i].empty() || owned_.contains(i))
      continue;
    const auto blocked = not_before_.find(i);
    if (blocked == not_before_.end() || blocked->second <= clock::now())
      free.push_back(i);
  }
  while (!free.empty()) {
    const auto count = std::min(free.size(), directory::writes_max);
    const std::vector<std::uint32_t> batch(free.begin(), free.begin() + static_cast<std::ptrdiff_t>(count));
    std::vector<directory_condition> conditions;
    std::vector<directory_write> writes;
    for (const auto number : batch) {
      conditions.push_back({.key = shard_key(of_.kind, number)});
      writes.push_back({.key = conditions.back().key, .value = of_.self, .lease = lease.id});
    }
    const auto taken = of_.where->commit(conditions, writes);
    if (!taken)
      return fail_requests(taken.error());
    pause_.reset();
    of_.problem({});
    if (taken->is_applied) {
      begin(batch, taken->revision, lease.id);
      free.erase(free.begin(), free.begin() + static_cast<std::ptrdiff_t>(count));
      continue;
    }
    std::vector<directory_condition> stale;
    std::vector<directory_write> removals;
    for (const auto& entry : taken->found) {
      const auto shard = shard_in(entry.key);
      if (!shard)
        continue;
      if (entry.lease == lease.id) { // The answer to an earlier request was lost.
        stale.push_back(
            {.key = entry.key, .what = directory_condition::kind::created_at, .revision = entry.created_revision});
        removals.push_back({.key = entry.key, .what = directory_write::kind::remove});
      } else {
        not_before_[shard->shard] = clock::now() + taken_pause;
        std::erase(free, shard->shard);
      }
    }
    if (!stale.empty()) {
      if (const auto done = of_.where->commit(stale, removals); !done)
        return fail_requests(done.error());
    } else if (taken->found.empty()) {
      return; // It changes just now: look again.
    }
  }
}

void shard_runner::begin(const std::vector<std::uint32_t>& those, std::uint64_t fence, std::uint64_t lease) {
  for (const auto number : those) {
    not_before_.erase(number);
    auto is_over = std::make_shared<std::atomic<bool>>(false);
    ownership own{fence, [lease, is_over, now = of_.lease, margin = of_.margin] {
                    const auto held = now();
                    return !*is_over && held.id == lease && held.is_sure(boot_clock::now() + margin);
                  }};
    std::function<void(const std::string&, bool)> remember;
    if (of_.entities.options.remember)
      remember = [bell = bell_, number](const std::string& key, bool is_running) {
        {
          const std::lock_guard guard{bell->mutex};
          bell->remembered.push_back({number, key, is_running});
        }
        bell->ring();
      };
    auto shard = std::make_shared<entity_shard>(entities_, std::move(own), std::move(remember));
    of_.region->put(number, shard);
    owned_[number] = {.lease = lease, .fence = fence, .shard = std::move(shard), .is_over = std::move(is_over)};
  }
  {
    const std::lock_guard guard{bell_->mutex};
    bell_->has_shards = true;
  }
  set_own(those, true);
  if (of_.entities.options.remember)
    start_remembered(those);
}

void shard_runner::start_remembered(const std::vector<std::uint32_t>& those) {
  const auto listed = of_.where->list(remembered_prefix_of(of_.kind));
  if (!listed)
    return of_.problem("the remembered entities cannot be read, and start with their first messages: "
                       + listed.error().message());
  for (const auto& entry : listed->entries)
    if (const auto known = remembered_in(entry.key); known && std::ranges::find(those, known->shard) != those.end()
                                                     && shard_of(known->key, of_.shards) == known->shard)
      owned_[known->shard].shard->start(known->key);
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
  const auto written = of_.where->commit(all_conditions, all_writes);
  if (!written) {
    fail_requests(written.error());
    return false;
  }
  if (!written->is_applied && changes.size() > 1) // One of the shards has been lost: the others count.
    return std::ranges::all_of(changes, [this](const auto& one) { return write_changes({&one, 1}); });
  return true;
}

void shard_runner::set_own(const std::vector<std::uint32_t>& those, bool is_own) {
  {
    const std::lock_guard guard{mutex_};
    for (const auto number : those)
      own_[number] = is_own;
  }
  of_.on_change();
}

void shard_runner::fail_requests(const directory_error& why) {
  of_.problem(why.message());
  next_request_ = clock::now() + pause_.next();
}

} // namespace troupe::membership
