#include <troupe/framework/gateway/internal/view/page_files.hpp>

#include <algorithm>

namespace troupe::web {

const page_file* find_page_file(std::string_view name) {
  const auto files = page_files();
  const auto found = std::ranges::find(files, name.empty() ? "index.html" : name, &page_file::name);
  return found == files.end() ? nullptr : &*found;
}

} // namespace troupe::web
