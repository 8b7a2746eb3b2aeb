// Reports which objects are kept in memory and on disk, and why: for one node, one host, or several hosts.
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

/// Why an object is kept. Travels by its name.
enum class memory_reason : std::uint8_t {
  handle,          ///< References in a process: object_refs, store handles, frames of messages.
  pinned_view,     ///< Its bytes are mapped in a process and cannot be moved.
  being_written,   ///< A builder is writing it.
  captured,        ///< Another object refers to it.
  in_flight,       ///< In flight between two processes that share the store.
  exported,        ///< Sent over a link, and not released by the peer.
  lost_link,       ///< Exported over a link that was lost: kept for node_options::handle_grace.
  pending_message, ///< Named by a message that has arrived and is not handled yet.
  queued_message,  ///< Named by a message that waits for room on a link.
  fetched,         ///< A caller waits for its bytes from another host.
  out_of_band      ///< A reference was serialized outside of a message: kept until the node ends.
};
TROUPE_DESCRIBE_ENUM(memory_reason, handle, pinned_view, being_written, captured, in_flight, exported, lost_link,
                     pending_message, queued_message, fetched, out_of_band)

/// The reason in words, for example "pinned view".
[[nodiscard]] TROUPE_EXPORT std::string_view to_string(memory_reason reason);

/// One reason that keeps an object, in one place.
struct memory_holder {
  memory_reason reason = memory_reason::handle;
  std::uint32_t process = 0; // The process that keeps it; 0: none.
  std::uint64_t count = 0;   // The number of references or views; 0: unknown, since that process was not asked or did
                             // not answer.
  std::uint64_t link = 0;    // link::number() in that process; 0: none, or the link is gone.
  std::string peer;          // The name of the link's peer.
  std::string object;        // captured: the object that refers to it.
  std::uint32_t to = 0;      // in_flight: the receiving process.
  std::string where;         // out_of_band: "file:line", or the setting that allowed it. lost_link: why the link ended.
  std::int64_t age_ms = -1;  // For how long it keeps the object; -1: unknown.
};
TROUPE_DESCRIBE(memory_holder, reason, process, count, link, peer, object, to, where, age_ms)

/// One object, and everything that is known to keep it.
struct memory_object {
  std::string object;    // Its name, as `troupe store` shows it; if it is on another host, the name that its source
                         // gives it.
  std::string store;     // The store's name; empty: in no store of this host.
  std::string state;     // The name of a store::object_state, or "remote", "lost", "unfinished", or "in memory" (of one
                         // process).
  std::string call_site; // "file:line" of the put, if that process runs with TROUPE_RECORD_CALL_SITES=1.
  std::uint32_t creator = 0; // The process that made it; 0: unknown.
  std::uint64_t size_bytes = 0;
  std::int64_t age_ms = -1; // Since it was made, or became known here; -1: unknown.
  std::vector<memory_holder> holders;
};
TROUPE_DESCRIBE(memory_object, object, store, state, call_site, creator, size_bytes, age_ms, holders)

/// A node that was asked, or a process that is known to hold objects.
struct memory_process {
  std::uint32_t process = 0;
  std::string node;    // Its name.
  std::string store;   // The name of its store; empty: none.
  std::string problem; // Why the objects that it holds are unknown; empty: they are known.
};
TROUPE_DESCRIBE(memory_process, process, node, store, problem)

/// What is kept, and why.
struct memory_summary {
  std::vector<memory_process> processes;
  std::vector<memory_object> objects; // Largest first.
  std::uint64_t objects_left_off = 0; // The number of smallest objects beyond the limit of the query, and their bytes.
  std::uint64_t bytes_left_off = 0;
};
TROUPE_DESCRIBE(memory_summary, processes, objects, objects_left_off, bytes_left_off)

/// Returns the content of a store's own table, without asking any process. Counts are known for the calling process
/// only, if it has the store open.
[[nodiscard]] TROUPE_EXPORT memory_summary memory_of(const store::store_summary& known);

/// Merges the summaries of several nodes into one row per object, with everything that keeps it. The statements of a
/// process about itself replace what other processes reported about it.
[[nodiscard]] TROUPE_EXPORT memory_summary combined(std::vector<memory_summary> parts);

/// An object that is probably kept for ever.
struct memory_hint {
  std::string object;
  std::string text; // The reason why it is kept, and the remedy.
};
TROUPE_DESCRIBE(memory_hint, object, text)

/// Returns probable leaks. These are objects that only keep each other (cycles), objects that have been exported or in
/// flight for longer than `old`, and objects that are pinned because a reference was serialized outside of messages.
[[nodiscard]] TROUPE_EXPORT std::vector<memory_hint>
leak_hints(const memory_summary& summary, std::chrono::milliseconds old = std::chrono::minutes(10));

/// A question to a node. A field that is missing has its default below. A node answers 4 memory or report queries of
/// one link at a time, and 16 in all. Further queries fail with `link_busy`.
struct memory_query {
  std::uint64_t objects_max = 10'000; // The largest objects are listed; a peer gets at most 100,000.
  bool whole_store = true;            // False: only objects that this process keeps as well.
};
TROUPE_DESCRIBE(memory_query, objects_max, whole_store)

} // namespace troupe
