// The shape of every error that a fallible call of the project returns.
#pragma once

#include <string>
#include <utility>

namespace troupe {

/// Why a call failed: a code to act on and a text that tells a person what happened and what to do.
/// Each folder has one enum of codes of its own (`store_errc`, `serialize_errc`, `link_errc`).
template <class Errc>
class basic_error {
public:
  basic_error(Errc code, std::string message) : code_(code), message_(std::move(message)) {}

  [[nodiscard]] Errc code() const noexcept { return code_; }

  /// A whole sentence without its full stop; carries the values ("object of 91,203 bytes, store has 65,536 free").
  [[nodiscard]] const std::string& message() const noexcept { return message_; }

private:
  Errc code_;
  std::string message_;
};

} // namespace troupe
