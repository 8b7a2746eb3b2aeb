// Base64, in which etcd's gateway writes keys and values.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace troupe::cluster_directories {

/// With padding, as RFC 4648 describes in section 4.
[[nodiscard]] std::string base64_of(std::string_view bytes);

/// Returns nullopt if the text is not what base64_of() would return.
[[nodiscard]] std::optional<std::string> bytes_of_base64(std::string_view text);

} // namespace troupe::cluster_directories
