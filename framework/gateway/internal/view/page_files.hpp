// The files of the page, which are a part of the library.
#pragma once

#include <span>
#include <string_view>

namespace troupe::web {

struct page_file {
  std::string_view name;
  std::string_view content_type;
  std::string_view bytes;
};

/// All files of the folder page/, in the order of their names. cmake/EmbedFiles.cmake makes the definition.
[[nodiscard]] std::span<const page_file> page_files();

/// Null if there is no such file. An empty name stands for "index.html".
[[nodiscard]] const page_file* find_page_file(std::string_view name);

} // namespace troupe::web
