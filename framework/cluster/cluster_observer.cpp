#include <troupe/framework/cluster/cluster_observer.hpp>

#include <algorithm>
#include <atomic>

#include <troupe/framework/cluster/internal/membership/addresses.hpp>
#include <troupe/framework/cluster/internal/membership/cluster_view.hpp>
#include <troupe/framework/cluster/internal/membership/entry_keys.hpp>
#include <troupe/framework/cluster/internal/membership/view_follower.hpp>

namespace troupe {

namespace {

cluster_snapshot snapshot_of(const membership::cluster_view& view, bool has_leases) {
  cluster_snapshot seen{.members = view.members(),
                        .names = view.names(),
                        .singletons = view.singletons(),
                        .shards = {},
                        .orders = view.orders(),
                        .faults = view.left_over()};
  for (const auto& [shard, member] : view.owned_shards())
    seen.shards.push_back({shard.kind, shard.shard, member});
  for (const auto& [key, why] : view.unreadable())
    seen.faults.insert_or_assign(key, "it cannot be read: " + why);
  std::ranges::sort(seen.names);
  for (const auto& member : seen.members)
    if (has_leases && !view.has_lease(member.name))
      seen.faults.emplace(membership::member_key(member.name), "it has no lease, so that it stays for ever");
  return seen;
}

} // namespace

std::string host_of_this_process() {
  return membership::this_host();
}

class cluster_observer::state {
public:
  state(std::shared_ptr<directory> where, bool closes, event_handler on_event)
      : where_(std::move(where)),
        closes_(closes),
        follower_(where_, [told = std::move(on_event), ends = ends_](const auto& events, const auto&) {
          if (told && !*ends)
            for (const auto& event : events)
              told(event);
        }) {}
  state(const state&) = delete;
  state& operator=(const state&) = delete;
  ~state() {
    *ends_ = true; // That the directory is closed is no loss.
    if (closes_)
      where_->close();
  }

  [[nodiscard]] directory& where() const noexcept { return *where_; }
  [[nodiscard]] membership::view_follower& follower() noexcept { return follower_; }

private:
  const std::shared_ptr<directory> where_;
  const bool closes_;
  const std::shared_ptr<std::atomic<bool>> ends_ = std::make_shared<std::atomic<bool>>(false);
  membership::view_follower follower_;
};

cluster_observer::cluster_observer(std::unique_ptr<state> of) : state_(std::move(of)) {}
cluster_observer::cluster_observer(cluster_observer&&) noexcept = default;
cluster_observer& cluster_observer::operator=(cluster_observer&&) noexcept = default;
cluster_observer::~cluster_observer() = default;

std::expected<cluster_observer, directory_error>
cluster_observer::open(std::string_view address, const directory_options& options, event_handler on_event) {
  auto opened = open_directory(address, options);
  if (!opened)
    return std::unexpected{std::move(opened).error()};
  auto made = std::make_unique<state>(*std::move(opened), true, std::move(on_event));
  if (auto read = made->follower().wait_until_read(std::chrono::steady_clock::now() + options.timeout); !read)
    return std::unexpected{std::move(read).error()};
  return cluster_observer{std::move(made)};
}

std::expected<cluster_observer, directory_error>
cluster_observer::open(std::shared_ptr<directory> opened, std::chrono::milliseconds timeout, event_handler on_event) {
  auto made = std::make_unique<state>(std::move(opened), false, std::move(on_event));
  if (auto read = made->follower().wait_until_read(std::chrono::steady_clock::now() + timeout); !read)
    return std::unexpected{std::move(read).error()};
  return cluster_observer{std::move(made)};
}

cluster_snapshot cluster_observer::now() const {
  const auto has_leases = state_->where().is_writable();
  return state_->follower().with_view([&](const auto& view) { return snapshot_of(view, has_leases); });
}

bool cluster_observer::wait_until(const std::function<bool(const cluster_snapshot&)>& is_so,
                                  std::chrono::steady_clock::time_point until) const {
  const auto has_leases = state_->where().is_writable();
  return state_->follower().wait_until([&](const auto& view) { return is_so(snapshot_of(view, has_leases)); }, until);
}

std::optional<directory_error> cluster_observer::trouble() const {
  auto known = state_->follower().trouble();
  return known ? known : state_->where().trouble();
}

directory& cluster_observer::where() const noexcept {
  return state_->where();
}

} // namespace troupe
