#include <troupe/framework/cluster/internal/members/member_address.hpp>

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace troupe::cluster_directories {

namespace {

constexpr std::size_t address_bytes_max = 512;

/// Without these, an address stands in a line, a log and a JSON text as it is.
bool has_unsafe_character(std::string_view text) {
  return std::ranges::any_of(text, [](char each) {
    const auto byte = static_cast<unsigned char>(each);
    return byte <= ' ' || byte >= 0x7f || each == '"' || each == '\\';
  });
}

std::string problem_of_path(std::string_view path) {
  constexpr std::size_t bytes_max = 107; // Of a unix socket.
  if (path.size() < 2 || path.size() > bytes_max || (path[0] != '/' && path[0] != '@'))
    return "needs an absolute path or @name of 2 to 107 bytes";
  return {};
}

std::string problem_of_host_and_port(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos || !is_possible_host(text.substr(0, colon)))
    return "needs a host and a port, as in tcp://10.0.0.5:4000 or tcp://[fd00::5]:4000";
  const auto digits = text.substr(colon + 1);
  std::uint16_t port = 0;
  const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (failed != std::errc{} || end != digits.data() + digits.size() || port == 0)
    return "needs a port from 1 to 65535";
  return {};
}

} // namespace

bool is_possible_host(std::string_view host) {
  constexpr std::size_t bytes_max = 253; // The bound of DNS.
  constexpr std::string_view in_name = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
  constexpr std::string_view in_brackets =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:.%-_"; // With a zone, as in fe80::1%eth0.
  auto letters = in_name;
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
    letters = in_brackets;
    if (host.find(':') == std::string_view::npos)
      return false;
  }
  return !host.empty() && host.size() <= bytes_max && host.find_first_not_of(letters) == std::string_view::npos;
}

std::string problem_of_address(std::string_view text) {
  if (text.size() > address_bytes_max)
    return "has " + std::to_string(text.size()) + " bytes; at most " + std::to_string(address_bytes_max)
           + " are possible";
  if (has_unsafe_character(text))
    return "has a space, a quote, a backslash, a control character or a letter that is not ASCII";
  const auto rest_of = [&](std::string_view scheme) { return text.substr(scheme.size()); };
  for (const std::string_view scheme : {"tcp://", "tls://"})
    if (text.starts_with(scheme))
      return problem_of_host_and_port(rest_of(scheme));
  for (const std::string_view scheme : {"unix://", "shm://"})
    if (text.starts_with(scheme))
      return problem_of_path(rest_of(scheme));
  if (text.starts_with("inproc://"))
    return rest_of("inproc://").empty() ? "needs a name" : "";
  return "begins with none of tcp://, tls://, unix://, shm:// and inproc://";
}

} // namespace troupe::cluster_directories
