#include <troupe/framework/cluster/internal/membership/entry_keys.hpp>

#include <charconv>
#include <system_error>

namespace troupe::membership {

std::string key_part(std::string_view name) {
  std::string part;
  for (const auto each : name)
    if (each == '/')
      part += "%2F";
    else if (each == '%')
      part += "%25";
    else
      part += each;
  return part;
}

namespace {

std::optional<std::string> decoded(std::string_view part) {
  std::string name;
  for (std::size_t i = 0; i < part.size(); ++i) {
    if (part[i] != '%') {
      name += part[i];
      continue;
    }
    const auto code = part.substr(i, 3);
    if (code != "%2F" && code != "%25")
      return std::nullopt;
    name += code == "%2F" ? '/' : '%';
    i += 2;
  }
  if (name.empty())
    return std::nullopt;
  return name;
}

} // namespace

std::optional<std::string> name_in(std::string_view part) {
  return part.contains('/') ? std::nullopt : decoded(part);
}

std::string member_key(std::string_view member) {
  return std::string{members_prefix} + key_part(member);
}

std::string name_key(std::string_view member, std::string_view name) {
  return std::string{names_prefix} + key_part(member) + '/' + key_part(name);
}

std::string singleton_key(std::string_view name) {
  return std::string{singletons_prefix} + key_part(name);
}

std::string kind_key(std::string_view kind) {
  return std::string{kinds_prefix} + key_part(kind);
}

std::string shard_key(std::string_view kind, std::uint32_t shard) {
  return std::string{shards_prefix} + key_part(kind) + '/' + std::to_string(shard);
}

std::string order_key(std::string_view member) {
  return std::string{orders_prefix} + key_part(member);
}

std::optional<std::string> member_in(std::string_view key) {
  if (!key.starts_with(members_prefix))
    return std::nullopt;
  return decoded(key.substr(members_prefix.size())); // Read-only directories name members by their addresses.
}

std::optional<std::string> singleton_in(std::string_view key) {
  if (!key.starts_with(singletons_prefix))
    return std::nullopt;
  return name_in(key.substr(singletons_prefix.size()));
}

std::optional<std::string> kind_in(std::string_view key) {
  if (!key.starts_with(kinds_prefix))
    return std::nullopt;
  return name_in(key.substr(kinds_prefix.size()));
}

namespace {

/// The number of a shard, as the keys have it.
std::optional<std::uint32_t> shard_number(std::string_view text) {
  std::uint32_t shard = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), shard);
  if (read.ec != std::errc{} || std::to_string(shard) != text || shard >= shards_max)
    return std::nullopt;
  return shard;
}

} // namespace

std::optional<std::string> ordered_member_in(std::string_view key) {
  if (!key.starts_with(orders_prefix))
    return std::nullopt;
  return name_in(key.substr(orders_prefix.size()));
}

std::optional<shard_name> shard_in(std::string_view key) {
  if (!key.starts_with(shards_prefix))
    return std::nullopt;
  key.remove_prefix(shards_prefix.size());
  const auto slash = key.find('/');
  if (slash == std::string_view::npos)
    return std::nullopt;
  auto kind = name_in(key.substr(0, slash));
  const auto shard = shard_number(key.substr(slash + 1));
  if (!kind || !shard)
    return std::nullopt;
  return shard_name{*std::move(kind), *shard};
}

std::string remembered_prefix_of(std::string_view kind) {
  return std::string{remembered_prefix} + key_part(kind) + '/';
}

std::string remembered_key(std::string_view kind, std::uint32_t shard, std::string_view key) {
  return remembered_prefix_of(kind) + std::to_string(shard) + '/' + key_part(key);
}

std::optional<remembered_name> remembered_in(std::string_view key) {
  if (!key.starts_with(remembered_prefix))
    return std::nullopt;
  key.remove_prefix(remembered_prefix.size());
  const auto kind_end = key.find('/');
  const auto shard_end = kind_end == std::string_view::npos ? kind_end : key.find('/', kind_end + 1);
  if (shard_end == std::string_view::npos)
    return std::nullopt;
  const auto shard = shard_number(key.substr(kind_end + 1, shard_end - kind_end - 1));
  auto name = name_in(key.substr(shard_end + 1));
  if (!shard || !name)
    return std::nullopt;
  return remembered_name{*shard, *std::move(name)};
}

std::optional<published_name> published_name_in(std::string_view key) {
  if (!key.starts_with(names_prefix))
    return std::nullopt;
  key.remove_prefix(names_prefix.size());
  const auto slash = key.find('/');
  if (slash == std::string_view::npos)
    return std::nullopt;
  auto member = name_in(key.substr(0, slash));
  auto name = name_in(key.substr(slash + 1));
  if (!member || !name)
    return std::nullopt;
  return published_name{*std::move(member), *std::move(name)};
}

} // namespace troupe::membership
