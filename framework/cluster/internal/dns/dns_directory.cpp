#include <troupe/framework/cluster/internal/dns/dns_directory.hpp>

#include <troupe/base/text.hpp>
#include <troupe/framework/cluster/internal/dns/dns_source.hpp>
#include <troupe/framework/cluster/internal/members/member_directory.hpp>

namespace troupe::cluster_directories {

std::expected<std::shared_ptr<directory>, directory_error>
open_dns_directory(std::string_view rest, std::string_view scheme, const directory_options& options) {
  auto address = read_dns_address(rest);
  if (!address)
    return std::unexpected{std::move(address).error()};
  if (const auto problem = problem_of_name_servers(options.name_servers); !problem.empty())
    return std::unexpected{directory_error{directory_errc::bad_address,
                                           "name_servers is \"" + one_line(options.name_servers, 128) + "\": " + problem
                                               + "; write addresses, as in 127.0.0.1:8600,[fd00::1]:53"}};
  const std::string prefix = scheme == "tcp" ? "dns://" : "dns+tls://";
  return open_member_directory(
      {.shown_address = prefix + std::string{rest}, .kind = "dns", .on_trouble = options.on_trouble},
      std::make_unique<dns_source>(dns_source_settings{.address = *std::move(address),
                                                       .scheme = std::string{scheme},
                                                       .name_servers = options.name_servers,
                                                       .timeout = options.timeout}));
}

} // namespace troupe::cluster_directories
