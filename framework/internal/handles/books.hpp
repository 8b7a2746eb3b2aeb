// What the parts of a ledger have in common.
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

/// The tables of one node's handles. Each part of the ledger changes its own columns of them.
struct books {
  books(ledger_options with, local_objects& store)
      : options(std::move(with)), objects(store), clock(options.clock), entries(store, clock), links(options, timers) {}
  books(const books&) = delete;
  books& operator=(const books&) = delete;

  const ledger_options options;
  local_objects& objects;
  timer_queue timers; // Outlives all that is due.
  event_clock clock;
  action_list actions;
  entry_table entries;
  link_table links;
};

/// What only the whole ledger can do to an entry, since all its parts have something of it.
class entry_changes {
public:
  virtual ~entry_changes() = default;

  /// The entry is `target` from now on, whose one reference of the caller becomes a dependent.
  virtual void move_to(reference what, reference target) = 0;
  /// Its bytes are in this host's store: nothing of it is sought any more.
  virtual void has_come(reference what) = 0;
};

} // namespace troupe::internal::handles
