// Error codes of store/.
#pragma once

#include <troupe/base/error.hpp>

#include <cstdint>
#include <string_view>

namespace troupe::store {

/// Why a store call failed, grouped by what the caller can do. Values travel between nodes: append only.
enum class store_errc : std::uint8_t {
  none = 0,
  // Try again later, or with less.
  full = 1,       // No room for the bytes: all other objects are held, or the file system itself is full.
  busy = 2,       // Another process did not release a lock or restore an object in time; the text names the process.
  table_full = 3, // Too many objects, captured ids, handles in flight, spill files, waiting calls or processes.
  // Ask for something else.
  not_found = 4,        // No such object, or no such handle in flight.
  unsealed = 5,         // The object is still being written.
  peer_gone = 6,        // That process is not attached to this store (any more).
  invalid_argument = 7, // An impossible name, size, number of ids or option.
  options_differ = 8,   // The store is open with other options; the text names the difference.
  // This handle or builder can do nothing more.
  empty = 9,   // The handle or builder was moved from, or the builder was sealed already.
  forked = 10, // Opened before this process was forked; open the store anew.
  // Stop using this store.
  layout_mismatch = 11, // Another layout version wrote the store, or something else has the name of one of its files.
  namespace_mismatch = 12, // The store lives in another pid namespace.
  denied = 13,             // A file or folder belongs to another user, is open to others or cannot be written.
  corrupt = 14,            // The table contradicts itself, or files of the store were removed by hand.
  system_failure = 15,     // A system call failed, or memory ran out; the text says which and why.
  detached = 16,           // This process closed the store's files or lost its slot; drop all handles, then open anew.
  // This object is lost.
  damaged = 17, // The object's file on disk is gone, cut short or changed.
  // Try again later, or with less, as with `full`.
  disk_full = 18, // No room for the bytes in memory, and the disk of the spill directory has none either.
};

using store_error = basic_error<store_errc>;

/// The code's name, for logs; "unknown" for a code of a newer version.
[[nodiscard]] constexpr std::string_view to_string(store_errc code) {
  switch (code) {
  case store_errc::none:
    return "none";
  case store_errc::full:
    return "full";
  case store_errc::busy:
    return "busy";
  case store_errc::table_full:
    return "table_full";
  case store_errc::not_found:
    return "not_found";
  case store_errc::unsealed:
    return "unsealed";
  case store_errc::peer_gone:
    return "peer_gone";
  case store_errc::invalid_argument:
    return "invalid_argument";
  case store_errc::options_differ:
    return "options_differ";
  case store_errc::empty:
    return "empty";
  case store_errc::forked:
    return "forked";
  case store_errc::layout_mismatch:
    return "layout_mismatch";
  case store_errc::namespace_mismatch:
    return "namespace_mismatch";
  case store_errc::denied:
    return "denied";
  case store_errc::corrupt:
    return "corrupt";
  case store_errc::system_failure:
    return "system_failure";
  case store_errc::detached:
    return "detached";
  case store_errc::damaged:
    return "damaged";
  case store_errc::disk_full:
    return "disk_full";
  }
  return "unknown";
}

} // namespace troupe::store
