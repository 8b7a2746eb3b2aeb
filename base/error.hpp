// The type of every error that a fallible call of the project returns.
#pragma once

#include <string>
#include <utility>

#include <troupe/base/text.hpp>

namespace troupe {

/// Why a call failed: a code on which the caller can act, and a text that tells a person what happened and what to do.
/// Each folder has its own enum of codes (`store_errc`, `serialize_errc`, `link_errc`). A plain value: copies are
/// independent.
template <class Errc>
class basic_error {
public:
  /// `message` may contain text from a peer or from user code. Each control character, each character that changes the
  /// writing direction, and each byte that is not UTF-8 becomes a question mark.
  basic_error(Errc code, std::string message) : code_(code), message_(on_one_line(std::move(message))) {}

  [[nodiscard]] Errc code() const noexcept { return code_; }

  /// One sentence on one line, without a full stop. It contains the values, as in "object of 91,203 bytes, store has
  /// 65,536 free".
  [[nodiscard]] const std::string& message() const noexcept { return message_; }

private:
  Errc code_;
  std::string message_;
};

} // namespace troupe
