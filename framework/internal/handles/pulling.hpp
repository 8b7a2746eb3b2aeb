// Asking sources for bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <troupe/framework/internal/handles/books.hpp>

namespace troupe::internal::handles {

/// Asks the sources of entries for their bytes, a limited number of pulls at a time.
class pulling {
public:
  explicit pulling(books& of)
      : options_(of.options), clock_(of.clock), actions_(of.actions), entries_(of.entries), links_(of.links) {}
  pulling(const pulling&) = delete;
  pulling& operator=(const pulling&) = delete;

  // Requires, for all entries below: the entry has a fetch.

  /// Gives the entry a turn behind all others.
  void take_turn(reference what);
  /// Queues the entry for its turn, if its source is up.
  void queue(reference what);
  void leave_queue(reference what);
  /// The next entry to pull from the source. It counts there from now on. Returns nullopt if none may begin now.
  [[nodiscard]] std::optional<reference> next(link_record& source);
  /// Requires: its turn has come.
  void ask(reference what);
  /// The source has sent everything. Ends the pull, so that the next one can begin.
  void end(reference what);
  /// Gives the pull up. It is neither queued nor counted any more. cancel() tells the source.
  void leave(reference what);
  void cancel(reference what);
  /// The source is too busy, or its store is full. Leaves it alone for a while. Requires: no request is open.
  void on_busy(reference what);
  void on_full(reference what);

  /// The first invariant that does not hold; empty if all hold.
  [[nodiscard]] std::string_view broken_invariant() const;

private:
  [[nodiscard]] link_record& source_of(reference what) { return links_.at(entries_.at(what).link); }
  [[nodiscard]] pull_turns& turns_of(reference what);
  void leave_slot(reference what);
  [[nodiscard]] time_point end_of_pause() const { return clock_.now() + options_.busy_pause; }
  [[nodiscard]] std::string_view broken_pull(const entry& which) const;

  const ledger_options& options_;
  const event_clock& clock_;
  action_list& actions_;
  entry_table& entries_;
  link_table& links_;
  std::uint64_t last_turn_ = 0;
};

} // namespace troupe::internal::handles
