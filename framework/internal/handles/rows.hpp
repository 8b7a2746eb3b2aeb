// The ledger's holders, for diagnostics.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <troupe/framework/internal/handles/actions.hpp>
#include <troupe/framework/internal/handles/link_record.hpp>
#include <troupe/framework/internal/handles/messages.hpp>
#include <troupe/framework/internal/handles/timers.hpp>

namespace troupe::internal::handles {

/// One export: sendings over one link under one name.
struct export_row {
  link_number link = 0;
  link_phase phase = link_phase::up;
  std::uint64_t count = 0;
  time_point since{}; // Of the first unreleased sending.
};

/// One object that this node has a handle to.
struct entry_row {
  reference known_as;             // Its own reference.
  std::optional<object_id> place; // In this host's store.
  object_id name;                 // The source's name; while unfinished, the name that peers know.
  link_number source = 0;         // 0: none, or gone.
  bool is_source_lost = false;    // That link is in its grace.
  bool is_lost = false;
  bool is_unfinished = false;   // This node's own, waiting for the objects it captures.
  std::uint64_t references = 0; // Held by the application and by fetches.
  std::uint64_t size_bytes = 0;
  time_point since{};
  bool is_fetched = false;
  std::uint64_t received_bytes = 0; // By a running fetch.
  std::vector<export_row> exports;
  std::optional<reference> moved_to; // If set, only references and exports are filled in; they count for that entry.
};

struct ledger_rows {
  time_point now{};
  std::vector<entry_row> entries;
  bool are_all = true; // False: more entries follow.
};

} // namespace troupe::internal::handles
