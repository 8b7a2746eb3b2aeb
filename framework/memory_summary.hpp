// What is kept in memory and on disk, and why: of one node, of a host, or of several.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <troupe/base/export.hpp>
#include <troupe/serializers/describe.hpp>

namespace troupe::store {
struct store_summary;
}

namespace troupe {

/// Why an object is kept. Travels by name.
enum class memory_reason : std::uint8_t {
  handle,          ///< References in a process: object_refs, store handles, frames of messages.
  pinned_view,     ///< Its bytes are mapped in a process, which keeps them where they are.
  being_written,   ///< A builder has it.
  captured,        ///< Another object refers to it.
  in_flight,       ///< On its way between two processes that share the store.
  exported,        ///< Sent over a link; the peer has not released it.
  lost_link,       ///< The same over a link that was lost: kept for node_options::handle_grace.
  pending_message, ///< A message that names it has come and is not handled.
  queued_message,  ///< A message that names it waits for room on a link.
  fetched,         ///< Somebody waits for its bytes, which are on another host.
  out_of_band      ///< A reference was serialized outside of a message: kept until the node ends.
};
TROUPE_DESCRIBE_ENUM(memory_reason, handle, pinned_view, being_written, captured, in_flight, exported, lost_link,
                     pending_message, queued_message, fetched, out_of_band)

/// "pinned view".
[[nodiscard]] TROUPE_EXPORT std::string_view to_string(memory_reason reason);

/// One thing that keeps an object.
struct memory_holder {
  memory_reason reason = memory_reason::handle;
  std::uint32_t process = 0; // Where; 0: in no process.
  std::uint64_t count = 0;   // How many of them; 0: not known, since that process was not asked or did not answer.
  std::uint64_t link = 0;    // link::number() in that process; 0: none, or one that is gone.
  std::string peer;          // Who is at its other end.
  std::string object;        // captured: by which.
  std::uint32_t to = 0;      // in_flight: to which process.
  std::string where;         // out_of_band: "file:line", or what allowed it. lost_link: why the link ended.
  std::int64_t age_ms = -1;  // Since when it does; -1: not known.
};
TROUPE_DESCRIBE(memory_holder, reason, process, count, link, peer, object, to, where, age_ms)

struct memory_object {
  std::string object;    // As `troupe store` shows it; of an object on another host, as its source names it.
  std::string store;     // The store's name; empty: it lies in none of this host.
  std::string state;     // As in store::object_state; "remote", "lost", "unfinished", or "in memory" of one process.
  std::string call_site; // "file:line" that put it, where that process runs with TROUPE_RECORD_CALL_SITES=1.
  std::uint32_t creator = 0;
  std::uint64_t size_bytes = 0;
  std::int64_t age_ms = -1;
  std::vector<memory_holder> holders;
};
TROUPE_DESCRIBE(memory_object, object, store, state, call_site, creator, size_bytes, age_ms, holders)

/// A node that was asked, or a process that is known to hold something.
struct memory_process {
  std::uint32_t process = 0;
  std::string node;    // Its name.
  std::string store;   // The name of its store; empty: none.
  std::string problem; // Why it is not known what it holds; empty: it is.
};
TROUPE_DESCRIBE(memory_process, process, node, store, problem)

struct memory_summary {
  std::vector<memory_process> processes;
  std::vector<memory_object> objects; // The largest first.
  std::uint64_t objects_left_off = 0; // Beyond the limit that was asked for: the smallest.
  std::uint64_t bytes_left_off = 0;
};
TROUPE_DESCRIBE(memory_summary, processes, objects, objects_left_off, bytes_left_off)

/// What a store's own table says; without counts, but for the calling process where it has the store open. No process
/// has been asked.
[[nodiscard]] TROUPE_EXPORT memory_summary memory_of(const store::store_summary& known);

/// What several nodes know, as one: of each object one row with all that keeps it. What a process says of itself stands
/// in place of what others know of it.
[[nodiscard]] TROUPE_EXPORT memory_summary combined(std::vector<memory_summary> parts);

/// Something that looks as if it would stay for ever.
struct memory_hint {
  std::string object;
  std::string text; // What it is and what to do about it.
};
TROUPE_DESCRIBE(memory_hint, object, text)

/// What looks like a leak: objects that keep each other and nobody else does (cycles); what was exported, or is on its
/// way, for longer than `old` and is still not released; what keeps it outside of messages.
[[nodiscard]] TROUPE_EXPORT std::vector<memory_hint>
leak_hints(const memory_summary& summary, std::chrono::milliseconds old = std::chrono::minutes(10));

/// What is asked of a node. Missing fields have these defaults. A node answers 4 such questions and report_queries of
/// one link at a time, and 16 in all; what is asked beyond that fails with `link_busy`.
struct memory_query {
  std::uint64_t objects_max = 10'000; // The largest; a peer is told of 100,000 at most.
  bool whole_store = true;            // Else only what this process has a part in keeping.
};
TROUPE_DESCRIBE(memory_query, objects_max, whole_store)

} // namespace troupe
