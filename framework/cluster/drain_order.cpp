#include <troupe/framework/cluster/drain_order.hpp>

#include <algorithm>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/cluster/internal/membership/entry_keys.hpp>
#include <troupe/framework/cluster/internal/membership/order_record.hpp>

namespace troupe {

namespace {

constexpr std::size_t by_bytes_max = 1'024;

std::expected<void, directory_error> check_writable(const directory& where) {
  if (where.is_writable())
    return {};
  return std::unexpected{
      directory_error{directory_errc::read_only, "the directory at " + where.shown_address()
                                                     + " finds members only: orders need one of kind etcd:// or "
                                                       "host://"}};
}

} // namespace

std::expected<void, directory_error> order_drain(directory& where, const cluster_member& member, std::string_view by) {
  if (auto writable = check_writable(where); !writable)
    return writable;
  if (member.incarnation.empty())
    return std::unexpected{directory_error{directory_errc::invalid_argument,
                                           "the entry of " + member.name + " does not say which process it is"}};
  if (by.size() > by_bytes_max)
    return std::unexpected{directory_error{directory_errc::invalid_argument,
                                           "the text has " + grouped(by.size()) + " bytes, limit 1,024"}};
  const directory_write write{.key = membership::order_key(member.name),
                              .value = membership::order_record({member.name, member.incarnation, std::string{by}})};
  if (auto written = where.commit({}, {&write, 1}); !written)
    return std::unexpected{std::move(written).error()};
  return {};
}

std::expected<bool, directory_error> cancel_drain(directory& where, std::string_view member) {
  const directory_write remove{.key = membership::order_key(member), .what = directory_write::kind::remove};
  if (auto writable = check_writable(where); !writable)
    return std::unexpected{std::move(writable).error()};
  const auto found = where.list(remove.key);
  if (!found)
    return std::unexpected{found.error()};
  if (std::ranges::find(found->entries, remove.key, &directory_entry::key) == found->entries.end())
    return false;
  if (const auto removed = where.commit({}, {&remove, 1}); !removed)
    return std::unexpected{removed.error()};
  return true;
}

} // namespace troupe
