#include <troupe/framework/gateway/internal/access/doorkeeper.hpp>

#include <chrono>
#include <utility>

#include <strings.h>

namespace troupe::web {

doorkeeper::doorkeeper(token_book tokens, const rates& allowed)
    : allowed_(allowed),
      tokens_(std::make_shared<const token_book>(std::move(tokens))),
      guesses_(allowed.guesses_per_minute) {}

void doorkeeper::replace(token_book tokens) {
  auto made = std::make_shared<const token_book>(std::move(tokens));
  const std::lock_guard guard{mutex_};
  tokens_ = std::move(made);
  by_token_.clear();
}

std::expected<std::shared_ptr<const token_rights>, refusal> doorkeeper::recognize(std::string_view token,
                                                                                  const std::string& address) {
  std::shared_ptr<const token_book> tokens;
  {
    const std::lock_guard guard{mutex_};
    tokens = tokens_;
  }
  if (auto rights = tokens->find(token))
    return rights;
  const std::lock_guard guard{mutex_};
  ++wrong_;
  if (!guesses_.note(address, std::chrono::steady_clock::now()))
    return std::unexpected{refusal{.status = 429,
                                   .code = "too_many_guesses",
                                   .text = "too many wrong tokens from this address",
                                   .retry_after_seconds = 60}};
  return std::unexpected{refusal{.status = 401,
                                 .code = "no_token",
                                 .text = token.empty() ? "a request needs the header Authorization: Bearer TOKEN"
                                                       : "the token is not known"}};
}

std::expected<void, refusal> doorkeeper::count(const token_rights& by) {
  const std::lock_guard guard{mutex_};
  const auto found = by_token_.try_emplace(by.name, allowed_.requests_per_second, allowed_.requests_burst).first;
  if (found->second.admit(std::chrono::steady_clock::now()))
    return {};
  return std::unexpected{refusal{.status = 429,
                                 .code = "too_many_requests",
                                 .text = "the token has sent more requests than its rate allows",
                                 .retry_after_seconds = 1}};
}

std::uint64_t doorkeeper::wrong_tokens() const {
  const std::lock_guard guard{mutex_};
  return wrong_;
}

std::string_view bearer_token(std::string_view authorization) {
  constexpr std::string_view scheme = "bearer ";
  if (authorization.size() <= scheme.size() || ::strncasecmp(authorization.data(), scheme.data(), scheme.size()) != 0)
    return {};
  authorization.remove_prefix(scheme.size());
  const auto first = authorization.find_first_not_of(' ');
  return first == std::string_view::npos ? std::string_view() : authorization.substr(first);
}

} // namespace troupe::web
