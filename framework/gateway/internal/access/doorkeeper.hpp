// Decides which requests are carried out.
#pragma once

#include <expected>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include <troupe/framework/gateway/internal/access/guess_limit.hpp>
#include <troupe/framework/gateway/internal/access/rate_limit.hpp>
#include <troupe/framework/gateway/internal/access/token_book.hpp>
#include <troupe/framework/gateway/internal/words/refusal.hpp>

namespace troupe::web {

/// Admits requests by their tokens: finds the rights of a token, and limits wrong tokens by address and requests by
/// token.
///
/// Threads: any.
class doorkeeper {
public:
  struct rates {
    std::size_t guesses_per_minute;
    double requests_per_second;
    double requests_burst;
  };

  doorkeeper(token_book tokens, const rates& allowed);

  /// Uses these tokens from now on.
  void replace(token_book tokens);

  /// The rights of the token. Fails with 401 for a wrong or missing token, or with 429 if the address has used up its
  /// guesses.
  [[nodiscard]] std::expected<std::shared_ptr<const token_rights>, refusal> recognize(std::string_view token,
                                                                                      const std::string& address);
  /// Counts a request. Fails with 429 beyond the token's rate.
  [[nodiscard]] std::expected<void, refusal> count(const token_rights& by);

  [[nodiscard]] std::uint64_t wrong_tokens() const;

private:
  const rates allowed_;
  mutable std::mutex mutex_; // Guards the members below.
  std::shared_ptr<const token_book> tokens_;
  guess_limit guesses_;
  std::map<std::string, rate_limit, std::less<>> by_token_;
  std::uint64_t wrong_ = 0;
};

/// The token in a header "Authorization: Bearer TOKEN"; empty if there is none.
[[nodiscard]] std::string_view bearer_token(std::string_view authorization);

} // namespace troupe::web
