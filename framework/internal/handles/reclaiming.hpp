// Moving the handles of a lost link to another one.
#pragma once

#include <troupe/framework/internal/handles/books.hpp>
#include <troupe/framework/internal/handles/exports.hpp>
#include <troupe/framework/internal/handles/shared_fetches.hpp>

namespace troupe::internal::handles {

/// Moves the counts of a lost link to another link to the same incarnation of the peer.
class reclaiming {
public:
  reclaiming(books& of, exports& sent, shared_fetches& bytes, voucher_book& vouchers, entry_changes& whole)
      : actions_(of.actions),
        entries_(of.entries),
        links_(of.links),
        exports_(sent),
        fetches_(bytes),
        vouchers_(vouchers),
        whole_(whole) {}

  // -- at the importer

  /// Reclaims everything that was imported over lost links to the peer, if another link to it is up.
  void ask(const node_name& peer);
  [[nodiscard]] violation on_reclaimed(link_record& from, const reclaimed& what);
  void on_given_up(const link_record& of, reference what);

  // -- at the exporter

  /// Requires: the link that the peer calls lost is not up.
  void on_reclaim(link_record& from, const reclaim& what);

private:
  [[nodiscard]] link_record* holder_of(const link_record& from, const reclaim& what);
  void give_back(link_record& to, link_record& from, const object_id& name, bool is_named);

  action_list& actions_;
  entry_table& entries_;
  link_table& links_;
  exports& exports_;
  shared_fetches& fetches_;
  voucher_book& vouchers_;
  entry_changes& whole_;
};

} // namespace troupe::internal::handles
