// The shape of every error that a fallible call of the project returns.
#pragma once

#include <string>
#include <utility>

#include <troupe/base/text.hpp>

namespace troupe {

/// Why a call failed: a code to act on and a text that tells a person what happened and what to do.
/// Each folder has one enum of codes of its own (`store_errc`, `serialize_errc`, `link_errc`).
template <class Errc>
class basic_error {
public:
  /// A text of a peer's, or of a user's code, may be part of the message: control characters and what is no UTF-8
  /// become question marks.
  basic_error(Errc code, std::string message) : code_(code), message_(on_one_line(std::move(message))) {}

  [[nodiscard]] Errc code() const noexcept { return code_; }

  /// A whole sentence on one line, without its full stop; carries the values ("object of 91,203 bytes, store has 65,536
  /// free").
  [[nodiscard]] const std::string& message() const noexcept { return message_; }

private:
  Errc code_;
  std::string message_;
};

} // namespace troupe
