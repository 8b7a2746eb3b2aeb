// Lets third nodes adopt objects that were sent to a peer.
#pragma once

#include <expected>

#include <troupe/framework/internal/handles/books.hpp>
#include <troupe/framework/internal/handles/shared_fetches.hpp>
#include <troupe/framework/internal/handles/voucher_book.hpp>

namespace troupe::internal::handles {

/// Exports handles in answers.
class answer_exports {
public:
  virtual ~answer_exports() = default;

  /// Fails with `object_lost` or `busy`.
  [[nodiscard]] virtual std::expected<handle_descriptor, handle_errc> export_in_answer(link_record& to,
                                                                                       reference what) = 0;
};

/// Lets third nodes adopt objects that were sent to a peer, after that peer has vouched for them.
class vouching {
public:
  vouching(books& of, entry_changes& whole, answer_exports& out);
  vouching(const vouching&) = delete;
  vouching& operator=(const vouching&) = delete;

  /// Returns true if the voucher is new and no adoption was waiting for it. Fails if the peer was not sent that name.
  [[nodiscard]] std::expected<bool, violation> on_vouch(link_record& from, const vouch& what);
  void on_adopt(link_record& from, const adopt& what);
  /// Refuses an adoption whose voucher has not come in time.
  void refuse_parked(link_number from, request_number request);

  /// An offer names this node itself as exporter. If the entry's source has vouched for this node, the entry becomes
  /// the node's own. Returns false if no voucher fits.
  [[nodiscard]] bool come_home(reference what, const adoption_offer& offer);

  [[nodiscard]] voucher_book& vouchers() noexcept { return vouchers_; }
  [[nodiscard]] const voucher_book& vouchers() const noexcept { return vouchers_; }

private:
  void redeem(link_record& to, request_number request, const voucher& which);

  const ledger_options& options_;
  const event_clock& clock_;
  action_list& actions_;
  entry_table& entries_;
  link_table& links_;
  entry_changes& whole_;
  answer_exports& out_;
  voucher_book vouchers_;
};

} // namespace troupe::internal::handles
