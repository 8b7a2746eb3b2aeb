// Files that list the members of a cluster.
#pragma once

#include <troupe/framework/cluster/directory_errc.hpp>

#include <cstddef>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::cluster_directories {

inline constexpr std::size_t member_file_bytes_max = 1024 * 1024;

/// The addresses in the text, which has one in each line. From a `#` at the beginning of a line, or behind a space, the
/// rest of the line is a comment. Fails with `bad_address`; the text names `path` and the line.
[[nodiscard]] std::expected<std::vector<std::string>, directory_error> read_members(std::string_view text,
                                                                                    const std::string& path);

/// The bytes of the file. Fails with `bad_address` if there is no such regular file, or it is too large; with `refused`
/// if this process may not read it.
[[nodiscard]] std::expected<std::string, directory_error> read_member_file(const std::string& path);

} // namespace troupe::cluster_directories
