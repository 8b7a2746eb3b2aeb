// Attaching to a store and detaching from it.
#pragma once

#include <troupe/store/internal/files/lock_file.hpp>
#include <troupe/store/internal/files/store_files.hpp>
#include <troupe/store/internal/spill/spill_directory.hpp>
#include <troupe/store/object_id.hpp>
#include <troupe/store/options.hpp>
#include <troupe/store/store_error.hpp>

#include <expected>
#include <string>

namespace troupe::store::internal {

/// Resources that open_store() acquires before there is an attachment.
struct opened_store {
  options settings;
  store_paths paths;
  lock_file lock;
  mapped_store files;
  process_id self;
  std::string beside; // About a store of this name in another layout version, as opening found it; empty: none.
};

/// Opens or creates the store and claims a slot. Requires: this process does not have the store open elsewhere
/// (attachments.hpp ensures that).
[[nodiscard]] std::expected<opened_store, store_error> open_store(const options& options);

/// Frees the slot, unless the process that reaps the slot has to do so. Removes the files if no other process is
/// attached.
void close_store(opened_store& store, bool gives_slot_back);

/// The directory to which the store spills.
[[nodiscard]] spill_directory spill_directory_of(const opened_store& store);

} // namespace troupe::store::internal
