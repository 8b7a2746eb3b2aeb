// Changes on a live link: the families with which both ends send, and those that they accept.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <troupe/framework/internal/link/acceptance.hpp>
#include <troupe/framework/internal/link/change_acknowledger.hpp>
#include <troupe/framework/internal/link/current_terms.hpp>
#include <troupe/framework/internal/link/link_common.hpp>
#include <troupe/framework/internal/link/negotiation.hpp>
#include <troupe/framework/internal/link/received_dictionary.hpp>
#include <troupe/framework/internal/wire/admin.hpp>
#include <troupe/framework/internal/wire/outbox.hpp>
#include <troupe/framework/link_options.hpp>
#include <troupe/framework/node_errc.hpp>
#include <troupe/serializers/family.hpp>

namespace asio {
class io_context;
}

namespace troupe::internal {

/// Changes the families with which both ends of a live link send, and those that they accept.
///
/// Threads: any for `reconfigure`, `accepted` and members that take a link_held; the I/O thread for the rest.
class family_changes final : public change_acknowledger {
public:
  /// Parts of the link and of its node; all must outlive this object.
  struct parts {
    current_terms& terms;
    acceptance& accepted;
    received_dictionary& known;
    const family_set& families;
    asio::io_context& io;
  };
  /// The rules of this end.
  struct own_rules {
    std::string name; // The node's.
    bool trusted_families = false;
    bool may_compress = true;
  };
  family_changes(const link_common& link, const parts& of, own_rules own)
      : link_(link), of_(of), own_(std::move(own)) {}

  /// To be called before anything changes. `owner` owns this object.
  void belong_to(std::weak_ptr<void> owner) { owner_ = std::move(owner); }

  /// From now on accepts only the families in `names`, also in nested payloads and in objects.
  void accept_only(std::vector<std::string> names);
  /// Starts with the lists of the two hellos. `first`: the terms that do not depend on the lists.
  void open(const link_held& held, family_names mine, family_names theirs, sending_terms first);

  /// Also counts the waiting messages by the lists that encoded them. Guarded by the link's lock.
  [[nodiscard]] negotiation& lists() noexcept { return lists_; }
  [[nodiscard]] std::uint64_t peer_epoch(const link_held&) const noexcept { return lists_.peer_epoch(); }
  /// The families with which the peer may send now.
  [[nodiscard]] std::vector<std::string> accepted() const;

  // -- this end's changes

  /// Changes this end's lists. Blocks until the peer has acknowledged, for at most `timeout`. Fails with `bad_option`,
  /// `nothing_in_common` or `timed_out`, or with the link's reason if the link has ended.
  [[nodiscard]] std::expected<void, node_error> reconfigure(const link_changes& changes,
                                                            std::chrono::milliseconds timeout);
  std::expected<void, node_error> on_reconfigured(const reconfigured& what);

  // -- the peer's changes

  std::expected<void, node_error> on_reconfigure(const family_change& what);
  void acknowledge_if_due(const link_held& held, outbox* out) override;

  /// Fails a change that is in progress because the link has ended.
  void end(const node_error& reason);

private:
  using result = std::expected<void, node_error>;

  /// The part of a change that concerns this end only.
  struct own_terms {
    troupe::compression compression = troupe::compression::none;
    std::size_t spill_bytes = 0;
    std::size_t offload_bytes = 0;
  };

  [[nodiscard]] result check(const link_changes& changes) const;
  [[nodiscard]] own_terms own_now(const link_held& held) const;
  void apply_locally(const link_changes& changes, sending_terms& terms);
  void announce(std::uint64_t number);

  const link_common& link_;
  const parts of_;
  const own_rules own_;
  std::weak_ptr<void> owner_;
  std::condition_variable over_; // Callers wait here for the changes of other callers.
  // Guarded by the link's lock.
  negotiation lists_;
  std::optional<std::promise<result>> under_way_; // This end's change ...
  own_terms before_;                              // ... and the values to restore if the peer refuses it.
};

} // namespace troupe::internal
