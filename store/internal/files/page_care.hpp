// What this process asks of the pages of the data file: to be there before they are used, to be huge, not to be
// written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace troupe::store::internal {

/// Gives this process the pages, zeroed where they are new, so that using them costs no fault. What does not work is
/// left out: then the first use pays.
void touch_for_writing(std::span<std::byte> pages) noexcept;
void touch_for_reading(std::span<const std::byte> pages) noexcept;

/// Asks for huge pages where the file system gives them.
void ask_for_huge_pages(std::span<const std::byte> mapping) noexcept;

/// Whether the file system at that directory is a tmpfs that gives huge pages to who asks.
[[nodiscard]] bool gives_huge_pages(const std::filesystem::path& directory);

/// From now on writing to pages that lie wholly in `bytes` traps in this process; and the reverse for all pages that
/// `bytes` touches. Reading is never changed.
void protect_whole_pages(std::span<std::byte> bytes) noexcept;
void unprotect_pages(std::span<std::byte> bytes) noexcept;

} // namespace troupe::store::internal
