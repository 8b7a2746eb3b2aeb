#include <troupe/framework/cluster/internal/membership/addresses.hpp>

#include <array>
#include <fstream>
#include <string_view>

#include <unistd.h>

namespace troupe::membership {

namespace {

constexpr std::size_t addresses_max = 64;
constexpr std::size_t address_bytes_max = 1'024;

/// "net:[4026531840]".
std::string name_space(const char* which) {
  std::array<char, 64> name{};
  const auto size = ::readlink(("/proc/self/ns/" + std::string{which}).c_str(), name.data(), name.size());
  return size > 0 ? std::string{name.data(), static_cast<std::size_t>(size)} : std::string{};
}

bool is_local(std::string_view address) {
  return address.starts_with("unix://") || address.starts_with("shm://");
}

std::string_view host_of(std::string_view address) {
  return address.substr(address.find("://") + 3);
}

bool is_unspecified(std::string_view address) {
  const auto host = host_of(address);
  return host.starts_with("0.0.0.0:") || host.starts_with("[::]:") || host.starts_with("*:");
}

} // namespace

std::string this_host() {
  std::ifstream file{"/proc/sys/kernel/random/boot_id"};
  std::string boot;
  std::getline(file, boot);
  return boot + '/' + std::to_string(::getuid()) + '/' + name_space("net") + '/' + name_space("mnt");
}

std::expected<std::vector<std::string>, std::string> advertised_addresses(std::span<const std::string> wanted,
                                                                          std::span<const std::string> listening) {
  std::vector<std::string> all;
  for (const auto& each : wanted.empty() ? listening : wanted) {
    if (each.starts_with("inproc://"))
      continue; // It leads to this process only.
    if (each.find("://") == std::string::npos)
      return std::unexpected{"cluster_options::advertise has \"" + each
                             + "\", which is no address; an address is like tls://host:4000"};
    if (each.size() > address_bytes_max)
      return std::unexpected{"an address has " + std::to_string(each.size()) + " bytes, limit 1,024"};
    if (is_unspecified(each))
      return std::unexpected{"no other host can reach this node at " + each
                             + ": set cluster_options::advertise to the address by which they can"};
    all.push_back(each);
  }
  if (all.size() > addresses_max)
    return std::unexpected{"the node has " + std::to_string(all.size())
                           + " addresses, limit 64: name fewer in cluster_options::advertise"};
  if (all.empty())
    return std::unexpected{std::string{
        "no other process can reach this node: listen at an address (node_options::listen) before the node joins"}};
  return all;
}

bool is_within_host(std::string_view address) {
  const auto host = host_of(address);
  return is_local(address) || host.starts_with("127.") || host.starts_with("localhost:") || host.starts_with("[::1]:");
}

std::optional<std::string> best_address(const cluster_member& member, std::string_view host) {
  std::optional<std::string> best;
  for (const auto& each : member.addresses) {
    if (is_local(each)) {
      if (member.host.empty() || member.host == host) // A list of addresses says nothing of hosts.
        return each;
    } else if (!best || (each.starts_with("tls://") && !best->starts_with("tls://"))) {
      best = each;
    }
  }
  return best;
}

} // namespace troupe::membership
