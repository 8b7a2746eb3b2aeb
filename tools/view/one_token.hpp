// A token for one run of the view.
#pragma once

#include <string>
#include <string_view>

namespace troupe::tools {

/// A new random token, in a token file that only this process can open and that is on no disk.
class one_token {
public:
  /// Throws std::system_error if the system refuses.
  explicit one_token(std::string_view rights);
  one_token(const one_token&) = delete;
  one_token& operator=(const one_token&) = delete;
  ~one_token();

  [[nodiscard]] const std::string& token() const noexcept { return token_; }
  /// A path to the file, for this process.
  [[nodiscard]] std::string file() const;

private:
  std::string token_;
  int file_ = -1;
};

} // namespace troupe::tools
