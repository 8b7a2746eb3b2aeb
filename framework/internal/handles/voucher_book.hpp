// The nodes that may adopt exports of this node.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <troupe/framework/internal/handles/messages.hpp>

namespace troupe::internal::handles {

/// Permission for a third node to have an object that was exported on a link.
struct voucher {
  object_id name;
  node_name beneficiary;
  std::uint64_t token = 0;
  link_number link = 0;

  friend auto operator<=>(const voucher&, const voucher&) = default;
};

/// Remembers the vouchers that peers have given for their imports. If there are too many, drops old ones.
class voucher_book {
public:
  struct bounds {
    std::size_t of_export = 1024;
    std::size_t of_link = 65536;
  };

  explicit voucher_book(bounds allowed) : allowed_(allowed) {}

  [[nodiscard]] bool contains(const voucher& which) const { return ages_.contains(which); }
  /// A voucher by which `beneficiary` may have `name`. If several peers gave one, returns that of the first link after
  /// `after`.
  [[nodiscard]] std::optional<voucher> find(const object_id& name, const node_name& beneficiary, std::uint64_t token,
                                            link_number after = 0) const;
  [[nodiscard]] std::size_t size() const noexcept { return ages_.size(); }

  /// Adds a voucher. If there are too many, drops an old one first: one of the same beneficiary if it has any, because
  /// that one was most likely never used.
  void add(const voucher& which);
  void drop(const voucher& which);
  /// The name is no longer exported on that link.
  void drop_all_of(link_number link, const object_id& name);
  /// The name is now exported on the link `to` instead.
  void move_all_of(link_number from, const object_id& name, link_number to);

  [[nodiscard]] std::size_t size_of(link_number link, const object_id& name) const;
  /// The first invariant that does not hold; empty if all hold.
  [[nodiscard]] std::string_view broken_invariant() const;

private:
  /// A set of vouchers, ordered by age.
  class ages {
  public:
    [[nodiscard]] const std::set<std::uint64_t>& all() const noexcept { return all_; }
    /// The oldest voucher for this node, or else the oldest of all. So one node's vouchers displace few of the others'.
    /// Requires: there is one.
    [[nodiscard]] std::uint64_t first_to_go(const node_name& beneficiary) const;
    void insert(std::uint64_t age, const node_name& beneficiary);
    void erase(std::uint64_t age, const node_name& beneficiary);

  private:
    std::set<std::uint64_t> all_;
    std::set<std::pair<node_name, std::uint64_t>> of_each_;
  };
  using export_key = std::pair<link_number, object_id>;

  const bounds allowed_;
  std::map<voucher, std::uint64_t> ages_;
  std::map<std::uint64_t, voucher> by_age_;
  std::map<export_key, ages> of_exports_; // No empty sets, here and in `of_links_`.
  std::map<link_number, ages> of_links_;
  std::uint64_t last_age_ = 0;
};

} // namespace troupe::internal::handles
