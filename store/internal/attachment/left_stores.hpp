// Stores that are found by the names of their files: which there are, and removing those that nobody has open.
#pragma once

#include <troupe/store/inspection.hpp>
#include <troupe/store/internal/files/store_files.hpp>

#include <chrono>
#include <expected>
#include <filesystem>
#include <vector>

namespace troupe::store::internal {

/// Adds this user's stores whose files lie in that very directory.
void add_stores_in(const std::filesystem::path& place, std::vector<found_store>& to);

/// Whether files of that store are there, wherever they came from.
[[nodiscard]] bool has_files(const found_store& store);

/// Removes the files of a store of another boot or layout that nobody has open. Gives whether all are gone.
[[nodiscard]] bool remove_files_of(const found_store& store);

/// Removes the other stores of this user in the same directory that only dead processes had open, and that nobody has
/// opened or closed for that long: a store whose name has a process's number in it is never opened again, and would
/// stay until the next boot.
void remove_forgotten(const store_paths& paths, std::chrono::seconds unused_for);

/// What is in a store that nobody has open, and removing it. Fail with `not_found` where there is none.
[[nodiscard]] std::expected<store_summary, store_error> summary_of_left_store(const options& options);
[[nodiscard]] std::expected<void, store_error> remove_left_store(const options& options);

} // namespace troupe::store::internal
