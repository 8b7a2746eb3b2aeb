#include <troupe/framework/cluster/internal/membership/entry_keys.hpp>

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
