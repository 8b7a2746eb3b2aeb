// Having a handle from the node with the bytes, where it came by way of another.
#pragma once

#include <cstdint>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <troupe/framework/internal/handles/books.hpp>
#include <troupe/framework/internal/handles/offered_dials.hpp>
#include <troupe/framework/internal/handles/vouching.hpp>

namespace troupe::internal::handles {

/// Seeks to have entries from the nodes that were offered as their exporters.
class adopting {
public:
  adopting(books& of, entry_changes& whole, vouching& own);
  adopting(const adopting&) = delete;
  adopting& operator=(const adopting&) = delete;

  // -- offers

  /// The newest replaces what was offered before. Requires: the entry is remote.
  void take_offer(reference what, const adoption_offer& offer, link_number offered_by);
  void forget_offer(reference what) { set_offer(what, std::nullopt); }
  /// A peer has vouched for this very node: the first entry that this brings home is enough.
  void come_home(const adoption_offer& offer);

  // -- the course of an adoption

  /// There is a link to an exporter that was offered.
  void on_link_up(link_record& to);
  /// The link has ended: what waits for its turn there is sought elsewhere.
  void on_link_down(link_record& to);
  /// As many as the peer may be asked for at a time; the others keep their turn.
  void ask(link_record& over);
  /// It is not sought any more, and makes room for others.
  void leave(reference what);
  /// A question was closed, whose answer is seen to next.
  void on_closed(link_record& of, const open_request& what);
  /// There was no answer in time.
  void on_given_up(link_record& of, const open_request& what);
  void on_refused(link_record& from, const open_request& what, handle_errc why);
  /// The exporter's answer: one reference of what it has given is this adoption's from now on. Requires: the question
  /// is closed.
  void on_adopted(const open_request& what, reference given);

  // -- dials

  void expire_dials(std::uint64_t offerer, time_point due) { dials_.expire(offerer, due); }
  [[nodiscard]] std::size_t dialed() const noexcept { return dials_.size(); }
  /// The first invariant that does not hold; empty when all do.
  [[nodiscard]] std::string_view broken_invariant() const;

private:
  void set_offer(reference what, const std::optional<adoption_offer>& offer);
  void seek(reference what);
  void queue(reference what, link_record& over);
  void end(reference what, std::uint64_t refused_token);
  void dial_exporter(const entry& which);
  [[nodiscard]] std::string_view broken_adoption(const entry& which, reference what) const;

  const ledger_options& options_;
  const event_clock& clock_;
  action_list& actions_;
  entry_table& entries_;
  link_table& links_;
  entry_changes& whole_;
  vouching& own_;
  offered_dials dials_;
  std::set<std::pair<adoption_offer, reference>> offers_; // Of all entries.
};

} // namespace troupe::internal::handles
