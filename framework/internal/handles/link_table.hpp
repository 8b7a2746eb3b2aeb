// All links.
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

/// Finds the links of a node by their numbers and by their peers.
class link_table {
public:
  link_table(const ledger_options& options, timer_queue& timers) : options_(options), timers_(timers) {}

  /// Null when a link of that number is still known.
  [[nodiscard]] link_record* add(link_number number, const node_name& peer, bool shares_store);
  void forget(link_number number);

  /// Null where it is not known.
  [[nodiscard]] link_record* find(link_number number);
  [[nodiscard]] const link_record* find(link_number number) const;
  /// Requires: it is known.
  [[nodiscard]] link_record& at(link_number number) { return links_.at(number); }
  /// Null where it is not up; so below.
  [[nodiscard]] link_record* up(link_number number);
  [[nodiscard]] const link_record* up(link_number number) const;
  [[nodiscard]] link_record* up_to(const node_name& peer);
  /// All to that peer.
  [[nodiscard]] const std::set<link_number>& to(const node_name& peer) const;
  /// All.
  [[nodiscard]] const std::map<link_number, link_record>& all() const noexcept { return links_; }

  /// Has it looked at when the event ends: where more may be asked, or nothing left to wait for.
  void touch(link_number number) { touched_.insert(number); }
  [[nodiscard]] std::set<link_number> take_touched() { return std::exchange(touched_, {}); }

  /// The first invariant that does not hold; empty when all do.
  [[nodiscard]] std::string_view broken_invariant() const;

private:
  const ledger_options& options_;
  timer_queue& timers_;
  std::map<link_number, link_record> links_;
  std::map<node_name, std::set<link_number>> to_; // No set that is empty.
  std::set<link_number> touched_;
};

} // namespace troupe::internal::handles
