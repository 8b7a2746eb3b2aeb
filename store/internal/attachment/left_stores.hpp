// Stores found by their file names: lists them, and removes those that no process has open.
#pragma once

#include <troupe/store/internal/files/store_files.hpp>
#include <troupe/store/survey.hpp>

#include <chrono>
#include <expected>
#include <filesystem>
#include <vector>

namespace troupe::store::internal {

/// Adds this user's stores whose files lie directly in `place`.
void add_stores_in(const std::filesystem::path& place, std::vector<found_store>& to);

/// Whether files of the store exist, no matter which process made them.
[[nodiscard]] bool has_files(const found_store& store);

/// Removes the files of a store of another boot or layout that no process has open. Returns whether all are gone.
[[nodiscard]] bool remove_files_of(const found_store& store);

/// Removes this user's other stores in the same directory that only dead processes had open and that no process has
/// opened or closed for `unused_for`. For example, a store whose name contains a process id is never opened again, and
/// would otherwise stay until the next boot.
void remove_forgotten(const store_paths& paths, std::chrono::seconds unused_for);

/// These summarize or remove a store that no process has open. They fail with `not_found` if there is none.
[[nodiscard]] std::expected<store_summary, store_error> summary_of_left_store(const options& options);
[[nodiscard]] std::expected<void, store_error> remove_left_store(const options& options);

} // namespace troupe::store::internal
