#include <troupe/framework/cluster/directory.hpp>

#include <troupe/framework/cluster/internal/address/directory_address.hpp>
#include <troupe/framework/cluster/internal/dns/dns_directory.hpp>
#include <troupe/framework/cluster/internal/etcd/etcd_directory.hpp>
#include <troupe/framework/cluster/internal/fixed/fixed_directory.hpp>
#include <troupe/framework/cluster/internal/host/host_directory.hpp>

namespace troupe {

std::expected<std::shared_ptr<directory>, directory_error> open_directory(std::string_view address,
                                                                          const directory_options& options) {
  using cluster_directories::directory_kind;
  const auto parts = cluster_directories::read_directory_address(address);
  if (!parts)
    return std::unexpected{parts.error()};
  switch (parts->kind) {
  case directory_kind::etcd:
    return cluster_directories::open_etcd_directory(*parts, options);
  case directory_kind::host:
    return cluster_directories::open_host_directory(parts->rest, options);
  case directory_kind::fixed:
    return cluster_directories::open_fixed_directory(parts->rest, options);
  case directory_kind::dns:
    return cluster_directories::open_dns_directory(parts->rest, "tcp", options);
  case directory_kind::dns_tls:
    return cluster_directories::open_dns_directory(parts->rest, "tls", options);
  }
  return std::unexpected{directory_error{directory_errc::bad_address, "there is no such kind of directory"}};
}

} // namespace troupe
