// Asking sources for bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <troupe/framework/internal/handles/books.hpp>

namespace troupe::internal::handles {

/// Asks the sources of entries for their bytes, each for a few at a time.
class pulling {
public:
  explicit pulling(books& of)
      : options_(of.options), clock_(of.clock), actions_(of.actions), entries_(of.entries), links_(of.links) {}
  pulling(const pulling&) = delete;
  pulling& operator=(const pulling&) = delete;

  // The entries below have a fetch.

  /// Behind all that have a turn.
  void take_turn(reference what);
  /// It waits for its turn, if its source can be asked.
  void queue(reference what);
  void leave_queue(reference what);
  /// Whose turn it is at a source, which counts there from now on. Nothing while there is no room.
  [[nodiscard]] std::optional<reference> next(link_record& source);
  /// Requires: its turn has come.
  void ask(reference what);
  /// The source has sent all: the pull is over, and makes room for the next.
  void end(reference what);
  /// It is given up: neither waits nor counts; cancel() tells the source.
  void leave(reference what);
  void cancel(reference what);
  /// The source has too much to do, or its store no room: it is left alone for a while. Requires: nothing is asked.
  void on_busy(reference what);
  void on_full(reference what);

  /// The first invariant that does not hold; empty when all do.
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
