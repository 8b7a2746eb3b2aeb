// The secrets that one end of a link knows, as its files have them now.
#pragma once

#include <expected>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include <troupe/framework/link_options.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

struct known_secret {
  std::string secret;
  std::string role = {}; // The role that it proves; empty for the secrets of `credentials`.

  friend bool operator==(const known_secret&, const known_secret&) = default;
};

/// Knows the secrets of options, and reads those of files again whenever they are needed, so that they can be changed
/// while nodes run.
///
/// Threads: any.
class secret_book {
public:
  /// Has the secrets of the credentials and of the roles; the book is empty if there are none. Fails with `bad_option`
  /// if a secret is given twice, too short or too long, or if a file cannot be used; the text says what to do.
  [[nodiscard]] static std::expected<std::shared_ptr<secret_book>, node_error>
  open(const credentials& with, std::span<const peer_role> roles = {});
  /// Has one secret for good.
  [[nodiscard]] static std::shared_ptr<secret_book> of(std::string secret);

  /// Whether it has secrets. Never changes.
  [[nodiscard]] bool is_empty() const noexcept { return fixed_.empty() && files_.empty(); }

  /// Reads the files, and returns all secrets, first those of the credentials. At least one unless is_empty(). If a
  /// file cannot be used, its last secrets stay in force. A secret that two roles have would give either of them, so it
  /// is left out. Each of these troubles is logged once.
  [[nodiscard]] std::vector<known_secret> now();

private:
  struct file {
    std::string path;
    std::string role;
    std::vector<std::string> last; // Guarded by mutex_.
  };

  void say_once(std::string trouble);

  std::vector<known_secret> fixed_; // Set before it is shared, as are the paths.
  std::vector<file> files_;
  std::mutex mutex_; // No file is read while it is held.
  std::string said_; // Guarded by mutex_; empty if all was well the last time.
};

} // namespace troupe::internal
