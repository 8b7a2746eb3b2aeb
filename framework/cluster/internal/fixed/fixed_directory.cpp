#include <troupe/framework/cluster/internal/fixed/fixed_directory.hpp>

#include <troupe/base/text.hpp>
#include <troupe/framework/cluster/internal/fixed/member_file_source.hpp>
#include <troupe/framework/cluster/internal/members/member_directory.hpp>

namespace troupe::cluster_directories {

std::expected<std::shared_ptr<directory>, directory_error> open_fixed_directory(std::string_view path,
                                                                                const directory_options& options) {
  if (path.empty() || path.find('\0') != std::string_view::npos)
    return std::unexpected{directory_error{directory_errc::bad_address,
                                           "\"static://\" needs the path of a file, as in static:///etc/shop/members"}};
  return open_member_directory(
      {.shown_address = "static://" + one_line(path, 256), .kind = "static", .on_trouble = options.on_trouble},
      std::make_unique<member_file_source>(std::string{path}));
}

} // namespace troupe::cluster_directories
