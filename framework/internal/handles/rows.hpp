// What the ledger keeps and why, for people to look at.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <troupe/framework/internal/handles/actions.hpp>
#include <troupe/framework/internal/handles/link_record.hpp>
#include <troupe/framework/internal/handles/messages.hpp>
#include <troupe/framework/internal/handles/timers.hpp>

namespace troupe::internal::handles {

/// What was sent over one link under one name.
struct export_row {
  link_number link = 0;
  link_phase phase = link_phase::up;
  std::uint64_t count = 0;
  time_point since{}; // Of the first sending that is not released.
};

/// One object that this node has a handle to.
struct entry_row {
  reference known_as;             // Its own.
  std::optional<object_id> place; // In this host's store.
  object_id name;                 // As its source names it, where it came over a link; as peers do, while unfinished.
  link_number source = 0;         // 0: none, or gone.
  bool is_source_lost = false;    // That link is in its grace.
  bool is_lost = false;
  bool is_unfinished = false;   // This node's own, waiting for what it captures.
  std::uint64_t references = 0; // Of the application and of fetches.
  std::uint64_t size_bytes = 0;
  time_point since{};
  bool is_fetched = false;
  std::uint64_t received_bytes = 0; // Of a fetch.
  std::vector<export_row> exports;
  std::optional<reference> moved_to; // Then it has references and exports alone, which count there.
};

struct ledger_rows {
  time_point now{};
  std::vector<entry_row> entries;
  bool are_all = true; // Else there are more behind them.
};

} // namespace troupe::internal::handles
