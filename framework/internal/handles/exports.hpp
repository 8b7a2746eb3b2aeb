// Handles that peers were sent.
#pragma once

#include <set>
#include <string_view>
#include <tuple>
#include <vector>

#include <troupe/framework/internal/handles/books.hpp>
#include <troupe/framework/internal/handles/serving.hpp>
#include <troupe/framework/internal/handles/voucher_book.hpp>

namespace troupe::internal::handles {

/// Counts the handles that peers were sent, by link and name, until the peers release them.
class exports {
public:
  exports(books& of, serving& pulls, voucher_book& vouchers)
      : clock_(of.clock), entries_(of.entries), links_(of.links), serving_(pulls), vouchers_(vouchers) {}
  exports(const exports&) = delete;
  exports& operator=(const exports&) = delete;

  /// Counts one sending.
  export_record& count(link_record& to, const object_id& name, reference what);
  /// Forgets the export with its vouchers and the pulls of it. Requires: it is exported on that link.
  void drop(link_record& from, const object_id& name);
  void drop_all(link_record& from);
  [[nodiscard]] violation on_release(link_record& from, const release& what);

  struct place {
    link_number link = 0;
    object_id name;
  };
  [[nodiscard]] std::vector<place> places_of(reference what) const;

  /// The first invariant that does not hold; empty if all hold.
  [[nodiscard]] std::string_view broken_invariant() const;

private:
  const event_clock& clock_;
  entry_table& entries_;
  link_table& links_;
  serving& serving_;
  voucher_book& vouchers_;
  std::set<std::tuple<reference, link_number, object_id>> of_; // All exports, by entry.
};

} // namespace troupe::internal::handles
