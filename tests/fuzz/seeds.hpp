// Shared by the parts of make_seeds.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

namespace fuzz {

/// Writes FOLDER/<target>/<name>.
void write_seed(const std::filesystem::path& folder, const std::string& target, const std::string& name,
                std::span<const std::byte> input);

/// Writes the seeds for `wire`: what the ends of a real link send.
void write_wire_seeds(const std::filesystem::path& folder);

/// Writes the seeds for `link` and `dialer`.
void write_script_seeds(const std::filesystem::path& folder);

/// Writes the seeds for `tape`.
void write_tape_seeds(const std::filesystem::path& folder);

} // namespace fuzz
