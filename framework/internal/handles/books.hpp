// The tables that the parts of a ledger share.
#pragma once

#include <utility>

#include <troupe/framework/internal/handles/action_list.hpp>
#include <troupe/framework/internal/handles/entry_table.hpp>
#include <troupe/framework/internal/handles/event_clock.hpp>
#include <troupe/framework/internal/handles/ledger_options.hpp>
#include <troupe/framework/internal/handles/link_table.hpp>
#include <troupe/framework/internal/handles/local_objects.hpp>
#include <troupe/framework/internal/handles/timers.hpp>

namespace troupe::internal::handles {

/// The tables of one node's handles. Each part of the ledger changes its own columns.
struct books {
  books(ledger_options with, local_objects& store)
      : options(std::move(with)), objects(store), clock(options.clock), entries(store, clock), links(options, timers) {}
  books(const books&) = delete;
  books& operator=(const books&) = delete;

  const ledger_options options;
  local_objects& objects;
  timer_queue timers; // Outlives all deadlines in it.
  event_clock clock;
  action_list actions;
  entry_table entries;
  link_table links;
};

/// Changes to an entry that only the whole ledger can make, because all its parts keep state about the entry.
class entry_changes {
public:
  virtual ~entry_changes() = default;

  /// The entry becomes `target`; the caller's one reference to `target` becomes a dependent.
  virtual void move_to(reference what, reference target) = 0;
  /// The entry's bytes are in this host's store: ends every attempt to get them.
  virtual void has_come(reference what) = 0;
};

} // namespace troupe::internal::handles
