// Gets a handle directly from the node with the bytes, if the handle came through another node.
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

/// Tries to adopt entries from the nodes that were offered as their exporters.
class adopting {
public:
  adopting(books& of, entry_changes& whole, vouching& own);
  adopting(const adopting&) = delete;
  adopting& operator=(const adopting&) = delete;

  // -- offers

  /// The newest offer replaces earlier ones. Requires: the entry is remote.
  void take_offer(reference what, const adoption_offer& offer, link_number offered_by);
  void forget_offer(reference what) { set_offer(what, std::nullopt); }
  /// A peer has vouched for this node itself. The first fitting entry with this offer becomes this node's own object;
  /// one is enough.
  void come_home(const adoption_offer& offer);

  // -- the course of an adoption

  /// A link to an offered exporter is up: queues the entries that it can serve.
  void on_link_up(link_record& to);
  /// The link has ended: queued adoptions are sought over other links.
  void on_link_down(link_record& to);
  /// Asks for as many adoptions as the peer may be asked for at a time. The others stay queued.
  void ask(link_record& over);
  /// Stops seeking the entry's adoption, which frees its place for others.
  void leave(reference what);
  /// A question was closed. Its answer is handled next.
  void on_closed(link_record& of, const open_request& what);
  /// The question was not answered in time.
  void on_given_up(link_record& of, const open_request& what);
  void on_refused(link_record& from, const open_request& what, handle_errc why);
  /// The exporter's answer. The adoption now owns the reference `given`. Requires: the question is closed.
  void on_adopted(const open_request& what, reference given);

  // -- dials

  void expire_dials(std::uint64_t offerer, time_point due) { dials_.expire(offerer, due); }
  [[nodiscard]] std::size_t dialed() const noexcept { return dials_.size(); }
  /// The first invariant that does not hold; empty if all hold.
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
