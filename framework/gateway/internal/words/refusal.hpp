// What a client is told if its request is not carried out.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <troupe/framework/node_errc.hpp>
#include <troupe/serializers/serialize_error.hpp>

namespace troupe::web {

/// A status of HTTP, a code for programs, and a text for people.
struct refusal {
  unsigned status = 0;
  std::string code;
  std::string text;
  unsigned retry_after_seconds = 0; ///< 0: the answer does not say when to try again.
};

/// A text as JSON, in quotes. Bytes that are not UTF-8 become question marks.
[[nodiscard]] std::string json_text(std::string_view text);

/// A text of a client's, as it is repeated to the client: at most `bytes_max` bytes, and "..." instead of the rest.
/// Ends between two characters.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t bytes_max = 200);
/// The same as JSON, in quotes.
[[nodiscard]] std::string excerpt(std::string_view text);

/// At most 4 KiB of the text are told. `{"error":{"code":"link_busy","text":"..."}}`.
[[nodiscard]] std::string json_of(const refusal& what);

/// The refusal for an error with which an actor, a link or the store answered.
[[nodiscard]] refusal refusal_of(const node_error& error);

/// The refusal for a value of the client's that cannot be decoded.
[[nodiscard]] refusal refusal_of(const serialize_error& error);

} // namespace troupe::web
