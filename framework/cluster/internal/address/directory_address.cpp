#include <troupe/framework/cluster/internal/address/directory_address.hpp>

#include <troupe/base/text.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <optional>
#include <system_error>
#include <utility>

namespace troupe::cluster_directories {

namespace {

constexpr std::size_t address_bytes_max = 4'096;
constexpr std::size_t endpoints_max = 32;
constexpr std::size_t host_bytes_max = 253;
constexpr std::size_t prefix_bytes_max = 256;

/// Hides a user and a password.
std::string shown_form(std::string_view address) {
  if (const auto at = address.rfind('@'); at != std::string_view::npos)
    return "..." + one_line(address.substr(at), 256);
  return one_line(address, 256);
}

std::unexpected<directory_error> bad_address(std::string_view address, const std::string& why) {
  return std::unexpected{directory_error{directory_errc::bad_address,
                                         "the directory \"" + shown_form(address) + "\" cannot be opened: " + why}};
}

bool is_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), port);
  return failed == std::errc{} && end == text.data() + text.size() && port != 0;
}

bool is_in_name(char each) {
  return (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') || (each >= '0' && each <= '9') || each == '.'
         || each == '-' || each == '_';
}

bool is_in_ip6(char each) {
  return (each >= 'a' && each <= 'f') || (each >= 'A' && each <= 'F') || (each >= '0' && each <= '9') || each == ':'
         || each == '.';
}

/// The reason why the text is not HOST:PORT, or nothing.
std::optional<std::string> fault_of_endpoint(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos || !is_port(text.substr(colon + 1)))
    return "the endpoint \"" + shown_form(text) + "\" has no port between 1 and 65535";
  auto host = text.substr(0, colon);
  const bool is_ip6 = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (is_ip6)
    host = host.substr(1, host.size() - 2);
  if (host.empty() || host.size() > host_bytes_max || !std::ranges::all_of(host, is_ip6 ? is_in_ip6 : is_in_name))
    return "the endpoint \"" + shown_form(text)
           + "\" has no host; give HOST:PORT, and an IPv6 address in brackets, without user and password";
  return std::nullopt;
}

std::expected<directory_address, directory_error> read_etcd(std::string_view whole, directory_address address) {
  const std::string_view rest = address.rest;
  const auto slash = std::min(rest.find('/'), rest.size());
  auto hosts = rest.substr(0, slash);
  auto prefix = rest.substr(slash);
  while (prefix.starts_with('/'))
    prefix.remove_prefix(1);
  while (prefix.ends_with('/'))
    prefix.remove_suffix(1);
  if (prefix.empty())
    return bad_address(whole, "it has no prefix; give one that no other cluster uses, as in etcd://HOST:PORT/shop");
  if (prefix.size() > prefix_bytes_max)
    return bad_address(whole, "its prefix has " + std::to_string(prefix.size()) + " bytes, and at most "
                                  + std::to_string(prefix_bytes_max) + " are allowed");
  if (!std::ranges::all_of(prefix, [](char each) { return is_in_name(each) || each == '/'; }))
    return bad_address(whole, "its prefix may contain letters, digits, '.', '-', '_' and '/' only");
  address.prefix = prefix;
  while (true) {
    const auto comma = std::min(hosts.find(','), hosts.size());
    const auto endpoint = hosts.substr(0, comma);
    if (auto fault = fault_of_endpoint(endpoint))
      return bad_address(whole, *fault);
    if (std::ranges::find(address.endpoints, endpoint) == address.endpoints.end())
      address.endpoints.emplace_back(endpoint);
    if (address.endpoints.size() > endpoints_max)
      return bad_address(whole, "it has more than " + std::to_string(endpoints_max) + " endpoints");
    if (comma == hosts.size())
      return address;
    hosts.remove_prefix(comma + 1);
  }
}

} // namespace

std::expected<directory_address, directory_error> read_directory_address(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, directory_kind>, 5> kinds{{
      {"etcd://", directory_kind::etcd},
      {"host://", directory_kind::host},
      {"static://", directory_kind::fixed},
      {"dns://", directory_kind::dns},
      {"dns+tls://", directory_kind::dns_tls},
  }};
  if (text.size() > address_bytes_max)
    return bad_address(text, "it has " + std::to_string(text.size()) + " bytes, and at most "
                                 + std::to_string(address_bytes_max) + " are allowed");
  for (const auto& [start, kind] : kinds) {
    if (!text.starts_with(start))
      continue;
    directory_address address{
        .kind = kind, .rest = std::string{text.substr(start.size())}, .endpoints = {}, .prefix = {}};
    if (address.rest.empty())
      return bad_address(text, "nothing follows " + std::string{start});
    return kind == directory_kind::etcd ? read_etcd(text, std::move(address)) : address;
  }
  return bad_address(text, "it begins with none of etcd://, host://, static://, dns:// and dns+tls://");
}

} // namespace troupe::cluster_directories
