// The tokens of a gateway's clients.
#pragma once

#include <array>
#include <cstddef>
#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <troupe/framework/gateway/internal/access/token_rights.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe::web {

inline constexpr std::size_t token_characters_min = 32;
inline constexpr std::size_t token_characters_max = 256;

/// Finds the rights of a token, in a time that does not depend on the token. Keeps hashes of the tokens only.
///
/// Threads: any number may call find().
class token_book {
public:
  /// Reads a file with one token on each line: its name, the token, and its rights, separated by blanks. Lines that are
  /// empty or begin with '#' are skipped. A token has 32 to 256 characters: letters, digits, '-', '_', '.', '~'.
  /// Fails with `bad_option`; the text names the file and the line, but no token.
  [[nodiscard]] static std::expected<token_book, node_error> parse(std::string_view text, const std::string& file);
  /// Reads such a file, if it belongs to this user or root, and no other user has access to it. Fails with
  /// `bad_option`.
  [[nodiscard]] static std::expected<token_book, node_error> read(const std::string& file);

  /// Null if there is no such token.
  [[nodiscard]] std::shared_ptr<const token_rights> find(std::string_view token) const;
  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }

private:
  using hash = std::array<unsigned char, 32>;
  struct entry {
    hash of_token;
    std::shared_ptr<const token_rights> rights;
  };
  [[nodiscard]] static hash hash_of(std::string_view token);

  std::vector<entry> entries_;
};

} // namespace troupe::web
