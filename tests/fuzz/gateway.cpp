// Fuzzes what a gateway reads of its clients before anything is sent to an actor. The first byte selects the reader: 0
// the body of a request, 1 a text of a WebSocket, 2 a header Range, 3 the target of a request, 4 a token file.
// Each must give a result, or a refusal with a status.
#include <array>

#include <troupe/framework/gateway/internal/access/token_book.hpp>
#include <troupe/framework/gateway/internal/messages/json_messages.hpp>
#include <troupe/framework/gateway/internal/messages/socket_words.hpp>
#include <troupe/framework/gateway/internal/objects/byte_range.hpp>
#include <troupe/framework/gateway/internal/words/routes.hpp>

#include "decoding.hpp"

namespace {

using namespace troupe;

const web::json_messages& reader() {
  static const web::json_messages made{fuzz::types(), fuzz::families(), 16};
  return made;
}

void expect_refusal(const web::refusal& why) {
  fuzz::expect(why.status >= 400 && why.status < 600 && !why.code.empty() && !why.text.empty(),
               "a refusal without a status or a text");
}

std::expected<caf::message, web::refusal> decoded(const std::vector<web::json_value>& values) {
  static web::message_quota quota{1 << 30};
  auto claim = quota.begin("fuzz");
  return reader().decode(values, *claim, claim);
}

/// What was accepted can be written, and is read again as the same.
void read_message(std::string_view text) {
  const auto values = reader().cut(text);
  if (!values)
    return expect_refusal(values.error());
  fuzz::expect(values->size() <= web::json_messages::values_max, "too many values");
  const auto message = decoded(*values);
  if (!message)
    return expect_refusal(message.error());
  const auto written = reader().encode(*message, 1 << 24);
  if (!written)
    return expect_refusal(written.error());
  const auto again = reader().cut(*written);
  fuzz::expect(again.has_value() && again->size() == values->size(), "what was written is no message", *written);
  fuzz::expect(decoded(*again).has_value(), "what was written cannot be decoded", *written);
}

void read_word(std::string_view text) {
  const auto word = web::read_socket_word(text, reader().bounds());
  if (!word)
    return expect_refusal(word.error());
  fuzz::expect(!word->answer || (word->message.empty() == word->error.has_value() && !word->id && word->token.empty()),
               "an answer that is something else, too");
  if (!word->message.empty())
    read_message(word->message);
}

void read_range_of(std::string_view text) {
  constexpr std::uint64_t size_bytes = 1000;
  const auto wanted = web::read_range(text, size_bytes);
  if (wanted.kind == web::range_kind::part)
    fuzz::expect(wanted.bytes.size_bytes > 0 && wanted.bytes.first < size_bytes
                     && wanted.bytes.size_bytes <= size_bytes - wanted.bytes.first,
                 "a range outside of the object");
}

void read_target(std::string_view text) {
  for (const auto* const method : {"GET", "POST", "PUT", "DELETE", "OPTIONS"})
    if (const auto found = web::find_route(method, text, false); !found)
      expect_refusal(found.error());
}

void read_tokens(std::string_view text) {
  if (const auto book = web::token_book::parse(text, "tokens"); book)
    fuzz::expect(book->size() > 0 && book->find("") == nullptr, "a book without tokens, or with an empty one");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0)
    return 0;
  constexpr std::array readers{read_message, read_word, read_range_of, read_target, read_tokens};
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  readers[data[0] % readers.size()](text);
  return 0;
}
