// What a directory says about a cluster.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/cluster/cluster_member.hpp>
#include <troupe/framework/cluster/directory.hpp>
#include <troupe/framework/cluster/drain_order.hpp>
#include <troupe/framework/cluster/internal/membership/entry_keys.hpp>

namespace troupe::membership {

/// How much of a directory is read.
struct view_bounds {
  std::size_t members = 10'000;
  std::size_t names = 1'000; // Of each member.
  std::size_t singletons = 10'000;
  std::uint64_t bytes = 64_MiB; // Of keys and values.
  std::string kept = {};        // A member that is never skipped.
};

/// Reads the entries of members, names and singletons. A name counts if its entry has the lease of its member's entry,
/// so that no name outlives its member, and no member publishes for another. The same holds for the owner of a
/// singleton.
///
/// Any user of the directory may write entries, so they are bounded. An entry that exceeds a bound is skipped, like one
/// that cannot be read, until it is written again or everything is read anew.
///
/// Threads: one at a time.
class cluster_view {
public:
  using events = std::vector<cluster_event>;

  cluster_view() = default;
  explicit cluster_view(const view_bounds& most) : most_(most) {}

  /// Takes over all entries, and returns what has changed.
  [[nodiscard]] events reset(std::span<const directory_entry> all);
  [[nodiscard]] events apply(std::span<const directory_change> changes);
  /// All changes up to this revision of the directory were applied.
  void note_revision(std::uint64_t revision) noexcept { revision_ = revision; }
  [[nodiscard]] std::uint64_t revision() const noexcept { return revision_; }

  [[nodiscard]] std::vector<cluster_member> members() const;
  [[nodiscard]] std::optional<cluster_member> member(std::string_view name) const;
  /// The members that have published `name`.
  [[nodiscard]] std::vector<cluster_member> providers(std::string_view name) const;
  /// The member that owns the singleton.
  [[nodiscard]] std::optional<cluster_member> owner(std::string_view singleton) const;
  /// The revision at which the present entry of the singleton was made; 0: there is none.
  [[nodiscard]] std::uint64_t singleton_revision(std::string_view name) const;
  /// Singletons with their owners' names.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> singletons() const;
  /// How many shards the kind of entities has; 0: the directory does not say.
  [[nodiscard]] std::size_t shards(std::string_view kind) const;
  /// The names of the owners of the kind's shards; empty: none.
  [[nodiscard]] std::vector<std::string> shard_owners(std::string_view kind) const;
  /// What is known of the owners that a shard has had.
  struct shard_past {
    std::uint64_t last = 0; // The fencing number of the last one; 0: none is known.
    /// The last owner knows the order of all messages that were sent for this fencing number or later ones.
    std::uint64_t oldest = 0;
    bool is_handed_over = false; // The last owner has released the shard, and has nothing to tell about the order.

    void take(std::uint64_t fence);
  };
  /// By shard of the kind. Owners that came and went while nobody watched the directory are not known.
  [[nodiscard]] std::vector<shard_past> shard_pasts(std::string_view kind) const;
  [[nodiscard]] std::vector<std::string> kinds() const;
  /// Shards that have an owner, with its name.
  [[nodiscard]] std::vector<std::pair<shard_name, std::string>> owned_shards() const;
  /// The order to the member, if it is for the process that is the member now.
  [[nodiscard]] std::optional<drain_order> order_to(std::string_view member) const;
  /// All orders that count.
  [[nodiscard]] std::vector<drain_order> orders() const;
  /// Whether the entry of the member ends with a lease.
  [[nodiscard]] bool has_lease(std::string_view member) const;
  /// Entries that do not count: their keys, with the reason.
  [[nodiscard]] std::map<std::string, std::string> left_over() const;
  /// The names that the member has published.
  [[nodiscard]] std::vector<std::string> names_of(std::string_view member) const;
  /// Published names with their members' names.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> names() const;
  /// Entries that cannot be read or exceed a bound: their keys, with the reason; at most 1,000.
  [[nodiscard]] const std::map<std::string, std::string>& unreadable() const noexcept { return unreadable_; }

private:
  struct slot {
    std::optional<cluster_member> member;
    std::uint64_t lease = 0;                                 // Of the member's entry.
    std::uint64_t bytes = 0;                                 // Of the member's entry.
    std::map<std::string, std::uint64_t, std::less<>> names; // With the leases of their entries.

    [[nodiscard]] bool has(std::string_view name) const;
    [[nodiscard]] std::set<std::string> visible() const;
  };
  using slots = std::map<std::string, slot, std::less<>>;

  struct claim {
    std::string member;
    std::uint64_t lease = 0;
    std::uint64_t revision = 0; // At which the entry was made.
  };
  using ordered_members = std::map<std::string, cluster_member>; // That shall drain, by their names.
  using owner_names = std::map<std::string, std::string>;        // By singleton: the owner's name and incarnation.

  void take(const directory_entry& entry);
  void take_member(std::string name, const directory_entry& entry);
  void skip(const std::string& key, std::string why);
  [[nodiscard]] bool has_room(const std::string& key, std::uint64_t bytes);
  void take_away(const std::string& key);
  [[nodiscard]] bool hands_over(const directory_change& removal, std::span<const directory_change> all) const;
  [[nodiscard]] ordered_members ordered() const;
  static void tell_orders(const ordered_members& before, const cluster_view& now, events& told);
  static void tell_difference(const slot& before, const slot& after, events& told);

  [[nodiscard]] bool counts(const claim& of) const;
  /// Why an entry of the member with this lease does not count; empty if it does.
  [[nodiscard]] std::string fault_of(std::string_view member, std::uint64_t lease) const;
  [[nodiscard]] owner_names owners() const;
  static void tell_moves(const owner_names& before, const cluster_view& now, events& told);

  view_bounds most_;
  slots slots_;
  std::map<std::string, claim, std::less<>> claims_; // By singleton.
  struct known_kind {
    std::size_t shards = 0;
    std::uint64_t moved = 0;                   // When a shard was taken last, at the latest.
    std::map<std::uint32_t, claim> claims;     // By shard.
    std::map<std::uint32_t, shard_past> pasts; // By shard.

    void keep_pasts(const known_kind& from);
  };
  std::map<std::string, known_kind, std::less<>> kinds_;
  std::map<std::string, drain_order, std::less<>> orders_; // By the member's name.
  std::map<std::string, std::string> unreadable_;
  std::uint64_t bytes_ = 0; // Of the entries that are kept.
  std::uint64_t revision_ = 0;
};

} // namespace troupe::membership
