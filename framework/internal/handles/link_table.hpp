// The table of links.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <troupe/framework/internal/handles/ledger_options.hpp>
#include <troupe/framework/internal/handles/link_record.hpp>
#include <troupe/framework/internal/handles/messages.hpp>
#include <troupe/framework/internal/handles/timers.hpp>

namespace troupe::internal::handles {

/// Finds a node's links by number and by peer.
class link_table {
public:
  link_table(const ledger_options& options, timer_queue& timers) : options_(options), timers_(timers) {}

  /// Null if a link of that number is still known.
  [[nodiscard]] link_record* add(link_number number, const node_name& peer, bool shares_store);
  void forget(link_number number);

  /// Null if the link is not known.
  [[nodiscard]] link_record* find(link_number number);
  [[nodiscard]] const link_record* find(link_number number) const;
  /// Requires: the link is known.
  [[nodiscard]] link_record& at(link_number number) { return links_.at(number); }
  /// Null if the link is not up; up_to() is null if no link to the peer is up.
  [[nodiscard]] link_record* up(link_number number);
  [[nodiscard]] const link_record* up(link_number number) const;
  [[nodiscard]] link_record* up_to(const node_name& peer);
  /// All links to that peer, up or in grace.
  [[nodiscard]] const std::set<link_number>& to(const node_name& peer) const;
  [[nodiscard]] const std::map<link_number, link_record>& all() const noexcept { return links_; }

  /// Has the link examined when the event ends. It may have room for more questions, or no entries left.
  void touch(link_number number) { touched_.insert(number); }
  [[nodiscard]] std::set<link_number> take_touched() { return std::exchange(touched_, {}); }

  /// The first invariant that does not hold; empty if all hold.
  [[nodiscard]] std::string_view broken_invariant() const;

private:
  const ledger_options& options_;
  timer_queue& timers_;
  std::map<link_number, link_record> links_;
  std::map<node_name, std::set<link_number>> to_; // Contains no empty sets.
  std::set<link_number> touched_;
};

} // namespace troupe::internal::handles
