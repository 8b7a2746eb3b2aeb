#include <troupe/serializers/compression.hpp>

namespace troupe {

std::string_view to_string(compression which) {
  switch (which) {
  case compression::none:
    return "none";
  case compression::lz4:
    return "lz4";
  case compression::zstd:
    return "zstd";
  case compression::automatic:
    return "automatic";
  }
  return "?";
}

std::optional<compression> compression_named(std::string_view name) {
  for (const auto each : {compression::none, compression::lz4, compression::zstd, compression::automatic})
    if (to_string(each) == name)
      return each;
  return std::nullopt;
}

} // namespace troupe
