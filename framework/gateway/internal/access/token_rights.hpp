// What the holder of a token may do.
#pragma once

#include <cstdint>
#include <expected>
#include <set>
#include <string>
#include <string_view>

namespace troupe::web {

/// The names that a right covers.
class name_list {
public:
  /// Adds one name, or all with "*".
  void add(std::string_view name);
  [[nodiscard]] bool covers(std::string_view name) const;
  [[nodiscard]] bool is_empty() const noexcept { return !all_ && names_.empty(); }

private:
  bool all_ = false;
  std::set<std::string, std::less<>> names_;
};

/// The rights of one token.
struct token_rights {
  std::string name; ///< For the log and for people. It is no secret.
  name_list calls;  ///< Exposed actors to which messages may be sent.
  name_list reads;  ///< Exposed objects that may be read. What the token has made, it may always read.
  bool schema = false;
  bool view = false;           ///< The page at /view shows the nodes.
  bool act = false;            ///< The page takes orders.
  std::uint64_t put_bytes = 0; ///< How much the objects that the token makes may take together. 0: it may make none.

  /// Adds the right that a word of the token file names: "call:NAME", "read:ID", "schema", "view", "act" or
  /// "put:BYTES". NAME and ID are names, or "*" for all. BYTES may end with KiB, MiB or GiB. Fails with a text that
  /// names the word.
  [[nodiscard]] std::expected<void, std::string> add(std::string_view word);
};

} // namespace troupe::web
