// A certificate for links over TLS between processes of this host.
#pragma once

#include <expected>
#include <filesystem>
#include <string>

namespace troupe::tools {

/// Writes one of 127.0.0.1 that is its own authority and good for a day, and its key, which no other user may read.
/// Fails with a text.
[[nodiscard]] std::expected<void, std::string> write_certificate(const std::filesystem::path& certificate_file,
                                                                 const std::filesystem::path& key_file);

} // namespace troupe::tools
