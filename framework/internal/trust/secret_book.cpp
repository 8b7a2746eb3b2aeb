#include <troupe/framework/internal/trust/secret_book.hpp>

#include <algorithm>
#include <utility>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/trust/authentication.hpp>
#include <troupe/framework/internal/trust/secret_file.hpp>
#include <troupe/framework/internal/words/failing.hpp>
#include <troupe/framework/internal/words/log.hpp>
#include <troupe/framework/internal/words/text.hpp>

namespace troupe::internal {

namespace {

std::expected<void, node_error> check_given(const credentials& with) {
  if (!with.secret.empty() && !with.secret_file.empty())
    return bad_option("credentials.secret and credentials.secret_file are both set; set one");
  if (!with.secret.empty() && with.secret.size() < secret_bytes_min)
    return bad_option("credentials.secret has " + std::to_string(with.secret.size())
                      + " bytes, minimum 16; make one with: openssl rand -hex 32");
  if (with.secret.size() > secret_bytes_max)
    return bad_option("credentials.secret has " + grouped(with.secret.size()) + " bytes, limit 4,096");
  return {};
}

/// Where the option with the file is, for errors.
std::string option_of(const std::string& role) {
  return role.empty() ? "credentials." : "roles." + role + '.';
}

std::string owner_of(const std::string& role) {
  return role.empty() ? "credentials" : "the role \"" + role + '"';
}

/// Removes secrets that do not tell which role their owner has. Returns why, or an empty text.
std::string remove_ambiguous(std::vector<known_secret>& all) {
  std::string why;
  std::vector<known_secret> left;
  for (const auto& each : all) {
    const auto same = std::ranges::find_if(
        all, [&](const known_secret& one) { return one.secret == each.secret && one.role != each.role; });
    if (same == all.end())
      left.push_back(each);
    else if (why.empty())
      why = owner_of(each.role) + " and " + owner_of(same->role)
            + " have the same secret, so it would not tell which role a peer has; give each its own";
  }
  all = std::move(left);
  return why;
}

} // namespace

std::expected<std::shared_ptr<secret_book>, node_error> secret_book::open(const credentials& with,
                                                                          std::span<const peer_role> roles) {
  if (auto good = check_given(with); !good)
    return std::unexpected{std::move(good).error()};
  auto made = std::make_shared<secret_book>();
  if (!with.secret.empty())
    made->fixed_.push_back({.secret = with.secret});
  if (!with.secret_file.empty())
    made->files_.push_back({.path = with.secret_file, .role = {}, .last = {}});
  for (const auto& role : roles)
    if (!role.secret_file.empty())
      made->files_.push_back({.path = role.secret_file, .role = role.name, .last = {}});
  auto all = made->fixed_;
  for (auto& each : made->files_) {
    auto read = read_secret_file(each.path);
    if (!read)
      return bad_option(option_of(each.role) + read.error().message());
    each.last = *std::move(read);
    for (const auto& one : each.last)
      all.push_back({.secret = one, .role = each.role});
  }
  if (const auto why = remove_ambiguous(all); !why.empty())
    return bad_option(why);
  return made;
}

std::shared_ptr<secret_book> secret_book::of(std::string secret) {
  auto made = std::make_shared<secret_book>();
  made->fixed_.push_back({.secret = std::move(secret)});
  return made;
}

std::vector<known_secret> secret_book::now() {
  auto all = fixed_;
  std::string trouble;
  for (auto& each : files_) {
    auto read = read_secret_file(each.path);
    if (!read)
      trouble = option_of(each.role) + read.error().message() + "; the secrets that were read before stay in force";
    std::lock_guard guard{mutex_};
    if (read)
      each.last = *std::move(read);
    for (const auto& one : each.last)
      all.push_back({.secret = one, .role = each.role});
  }
  if (auto why = remove_ambiguous(all); !why.empty())
    trouble = std::move(why) + "; it is not accepted";
  say_once(std::move(trouble));
  if (all.empty() && !is_empty()) // Without any secret everybody would be admitted; nobody knows this one.
    all.push_back({.secret = hex(random_digest())});
  return all;
}

void secret_book::say_once(std::string trouble) {
  {
    std::lock_guard guard{mutex_};
    if (trouble == said_)
      return;
    said_ = trouble;
  }
  if (!trouble.empty())
    log(log_level::warning, trouble);
}

} // namespace troupe::internal
