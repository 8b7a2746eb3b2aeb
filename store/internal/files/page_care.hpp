// Requests of this process about pages of the data file: prepare, make huge, write-protect.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace troupe::store::internal {

/// Prepares the pages for this process, zeroed if they are new, so that their use causes no fault. Failures are
/// ignored; then the first use takes longer.
void touch_for_writing(std::span<std::byte> pages) noexcept;
void touch_for_reading(std::span<const std::byte> pages) noexcept;

/// Requests huge pages, if the file system provides them.
void ask_for_huge_pages(std::span<const std::byte> mapping) noexcept;

/// Whether the directory is on a tmpfs that gives huge pages on request.
[[nodiscard]] bool gives_huge_pages(const std::filesystem::path& directory);

/// Makes writes to the pages that lie wholly in `bytes` trap in this process, or allows writes to all pages that
/// `bytes` touches. Reads are always possible.
void protect_whole_pages(std::span<std::byte> bytes) noexcept;
void unprotect_pages(std::span<std::byte> bytes) noexcept;

} // namespace troupe::store::internal
