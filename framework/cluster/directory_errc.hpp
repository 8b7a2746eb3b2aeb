// Error codes of the directories of framework/cluster/.
#pragma once

#include <troupe/base/error.hpp>

#include <cstdint>
#include <string_view>

namespace troupe {

/// Why a call of a directory failed, grouped by what the caller can do. Append only.
enum class directory_errc : std::uint8_t {
  none = 0,
  // Try again later.
  unavailable = 1, // No answer in time: no endpoint can be reached, or the directory has no leader.
  full = 2,        // The directory, or its disk, has no room for the entry.
  busy = 3,        // Another process holds the directory's lock for too long; the text names it where it is known.
  // Begin anew.
  lease_gone = 4, // The lease has expired or was revoked, and its entries are removed: grant another.
  compacted = 5,  // The directory no longer has the changes since that revision: list, then watch anew.
  closed = 6,     // The directory was closed.
  // Ask for something else.
  read_only = 7,        // This kind of directory finds members only.
  invalid_argument = 8, // An impossible key, value, time or number of changes.
  // Change the configuration.
  bad_address = 9,       // The text is not the address of a directory, or no such file, host or folder exists.
  refused = 10,          // User, password or certificate were refused, or they do not permit this call.
  version_mismatch = 11, // Something else, or an incompatible version, answers at that address or wrote that file.
  another_cluster = 12,  // The directory is not the one that answered first; its fencing numbers have begun anew.
  name_taken = 14,       // Another member of the cluster has this name.
  // Stop using this directory.
  system_failure = 13, // A system call failed; the text says which and why.
};

using directory_error = basic_error<directory_errc>;

/// The code's name, for logs; "unknown" for a code of a newer version.
[[nodiscard]] constexpr std::string_view to_string(directory_errc code) {
  switch (code) {
  case directory_errc::none:
    return "none";
  case directory_errc::unavailable:
    return "unavailable";
  case directory_errc::full:
    return "full";
  case directory_errc::busy:
    return "busy";
  case directory_errc::lease_gone:
    return "lease_gone";
  case directory_errc::compacted:
    return "compacted";
  case directory_errc::closed:
    return "closed";
  case directory_errc::read_only:
    return "read_only";
  case directory_errc::invalid_argument:
    return "invalid_argument";
  case directory_errc::bad_address:
    return "bad_address";
  case directory_errc::refused:
    return "refused";
  case directory_errc::version_mismatch:
    return "version_mismatch";
  case directory_errc::another_cluster:
    return "another_cluster";
  case directory_errc::system_failure:
    return "system_failure";
  case directory_errc::name_taken:
    return "name_taken";
  }
  return "unknown";
}

} // namespace troupe
