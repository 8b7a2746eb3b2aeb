#include <troupe/framework/internal/trust/peer_roles.hpp>

#include <algorithm>
#include <utility>

#include <troupe/framework/internal/words/failing.hpp>
#include <troupe/framework/internal/words/text.hpp>

namespace troupe::internal {

namespace {

constexpr std::string_view dns_kind = "DNS:";
constexpr std::string_view uri_kind = "URI:";

char lower(char each) {
  return each >= 'A' && each <= 'Z' ? static_cast<char>(each - 'A' + 'a') : each;
}

/// DNS names are compared without case.
bool same_without_case(std::string_view one, std::string_view other) {
  return std::ranges::equal(one, other, {}, lower, lower);
}

bool is_dns_name(std::string_view name, std::string_view wanted) {
  if (!wanted.starts_with("*."))
    return same_without_case(name, wanted);
  const auto dot = name.find('.');
  return dot != std::string_view::npos && dot > 0 && same_without_case(name.substr(dot), wanted.substr(1));
}

/// A beginning that is followed by '*', or a whole text.
bool is_text_or_beginning(std::string_view text, std::string_view wanted) {
  return wanted.ends_with('*') ? text.starts_with(wanted.substr(0, wanted.size() - 1)) : text == wanted;
}

bool is_of_subject(std::string_view wanted) {
  return wanted.starts_with("CN=") || wanted.starts_with("OU=");
}

bool is_role_name(std::string_view name) {
  return !name.empty() && name.size() <= role_name_bytes_max && std::ranges::all_of(name, [](char each) {
    return (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') || (each >= '0' && each <= '9') || each == '-'
           || each == '_' || each == '.';
  });
}

/// Returns why no certificate can have this name, or an empty text.
std::string why_no_name(std::string_view wanted) {
  if (wanted.empty() || wanted == "CN=" || wanted == "OU=")
    return "is empty";
  if (is_of_subject(wanted))
    return {};
  if (wanted.find("://") != std::string_view::npos) // The star must leave something that names the role.
    return wanted.find('*') < wanted.size() - 1 ? "has a '*' that is not its last character" : "";
  if (wanted.find('*', wanted.starts_with("*.") && wanted.size() > 2 ? 1 : 0) != std::string_view::npos)
    return "has a '*' that is not its first label";
  return {};
}

bool meets(const proven_peer& who, const peer_role& role) {
  // A secret of a role is for that role alone; a role without a secret is for peers that have proven a common one.
  if (role.secret_file.empty() ? !who.role_of_secret.empty() : who.role_of_secret != role.name)
    return false;
  if (role.same_user && !who.is_same_user)
    return false;
  return role.certificate_names.empty() || std::ranges::any_of(role.certificate_names, [&](const auto& wanted) {
           return std::ranges::any_of(who.certificate_names,
                                      [&](const auto& name) { return is_certificate_name(name, wanted); });
         });
}

template <class T>
T right_of(const setting<T>& role, const setting<T>& otherwise) {
  return role.is_set() ? *role : *otherwise;
}

std::expected<void, node_error> check_role(const peer_role& role, const tls_options& with) {
  const auto text = "accepted_links.roles: the role \"" + one_line(cut(role.name)) + "\" ";
  if (!is_role_name(role.name))
    return bad_option(text + "must have a name of 1 to 64 letters, digits, '-', '_' or '.'");
  if (role.secret_file.empty() && role.certificate_names.empty() && !role.same_user)
    return bad_option(text
                      + "has no condition, so it is not clear who has it: set secret_file, certificate_names or "
                        "same_user");
  for (const auto& wanted : role.certificate_names)
    if (const auto why = why_no_name(wanted); !why.empty())
      return bad_option(text + "has the certificate name \"" + one_line(cut(wanted)) + "\", which " + why);
  if (!role.certificate_names.empty() && with.authority_file.empty())
    return bad_option(text + "depends on certificates, but no authority is given: set credentials.tls.authority_file");
  return {};
}

} // namespace

std::expected<void, node_error> check_roles(std::span<const peer_role> roles, const tls_options& with) {
  if (roles.size() > roles_max)
    return bad_option("accepted_links.roles has " + std::to_string(roles.size()) + " roles, limit 16");
  for (auto role = roles.begin(); role != roles.end(); ++role) {
    if (auto good = check_role(*role, with); !good)
      return good;
    if (std::any_of(roles.begin(), role, [&](const peer_role& before) { return before.name == role->name; }))
      return bad_option("accepted_links.roles has the role \"" + role->name + "\" twice");
  }
  return {};
}

bool any_asks_for_certificate(std::span<const peer_role> roles) {
  return std::ranges::any_of(roles, [](const peer_role& each) { return !each.certificate_names.empty(); });
}

std::expected<const peer_role*, node_error> role_of(const proven_peer& who, std::span<const peer_role> roles) {
  const auto found = std::ranges::find_if(roles, [&](const peer_role& each) { return meets(who, each); });
  if (found != roles.end())
    return &*found;
  if (!who.role_of_secret.empty())
    return fail(node_errc::refused, "the dialing end has proven the secret of the role \"" + who.role_of_secret
                                        + "\", but does not meet the other conditions of this role");
  return nullptr;
}

peer_rights rights_of(const link_options& options, const peer_role* role) {
  const peer_role none;
  const auto& of = role != nullptr ? *role : none;
  return {.spawn = right_of(of.allow_spawn, options.allow_spawn),
          .tasks = right_of(of.allow_tasks, options.allow_tasks),
          .exits = right_of(of.allow_exit, options.allow_exit),
          .memory_summary = right_of(of.allow_memory_summary, options.allow_memory_summary),
          .report = right_of(of.allow_report, options.allow_report),
          .recording = right_of(of.allow_recording, options.allow_recording),
          .orders = right_of(of.allow_orders, options.allow_orders),
          .find = right_of(of.allow_find, options.allow_find)};
}

bool is_certificate_name(std::string_view name, std::string_view wanted) {
  if (is_of_subject(wanted))
    return name == wanted;
  if (wanted.find("://") != std::string_view::npos)
    return name.starts_with(uri_kind) && is_text_or_beginning(name.substr(uri_kind.size()), wanted);
  return name.starts_with(dns_kind) && is_dns_name(name.substr(dns_kind.size()), wanted);
}

bool may_find(const peer_rights& rights, std::string_view name) {
  return std::ranges::any_of(rights.find, [&](const auto& wanted) { return is_text_or_beginning(name, wanted); });
}

std::string lacks_right(std::string_view role, std::string_view option, std::string_view without_role) {
  if (role.empty())
    return std::string{without_role};
  return " for the role \"" + one_line(cut(role)) + "\", which this end has there; its accepted_links.roles must give "
         + std::string{option} + " to this role";
}

} // namespace troupe::internal
