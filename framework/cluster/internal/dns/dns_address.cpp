#include <troupe/framework/cluster/internal/dns/dns_address.hpp>

#include <troupe/base/text.hpp>

#include <charconv>
#include <utility>

namespace troupe::cluster_directories {

namespace {

std::unexpected<directory_error> no_dns_address(std::string_view text, std::string_view why) {
  return std::unexpected{directory_error{directory_errc::bad_address,
                                         "\"dns://" + one_line(text, 280) + "\" " + std::string{why}
                                             + "; write dns://NAME:PORT for the address records of NAME, or dns://NAME "
                                               "for its SRV records"}};
}

bool is_possible_name(std::string_view name) {
  constexpr std::size_t bytes_max = 253;
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
  return !name.empty() && name.size() <= bytes_max && name.find_first_not_of(letters) == std::string_view::npos
         && name[0] != '.' && name.find("..") == std::string_view::npos;
}

} // namespace

std::expected<dns_address, directory_error> read_dns_address(std::string_view text) {
  const auto colon = text.find(':');
  dns_address address{.name = std::string{text.substr(0, colon)}};
  if (!is_possible_name(address.name))
    return no_dns_address(text, "has no name of a host or service");
  if (colon == std::string_view::npos)
    return address;
  if (address.name.starts_with('_'))
    return no_dns_address(text, "has a port, and the name of a service, whose SRV records have the ports");
  const auto digits = text.substr(colon + 1);
  const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), address.port);
  if (failed != std::errc{} || end != digits.data() + digits.size() || address.port == 0)
    return no_dns_address(text, "has no port from 1 to 65535 after its colon");
  return address;
}

} // namespace troupe::cluster_directories
