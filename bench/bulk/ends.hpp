// Two pairs of actors on one link: one pair transfers large messages while the other asks small questions.
#pragma once

#include "peers/small_messages.hpp"

#include <cstddef>
#include <memory>

namespace bench {

/// Bytes of one large message. Not a multiple of a chunk, so that the last chunk is a short one.
constexpr std::size_t bulk_frame_bytes = (16 << 20) + 1'000;

/// For the far process; see subject::serve.
[[nodiscard]] std::expected<void, std::string> serve_bulk(const std::string& address, const ready_report& ready);

/// The driving end. Its calls block.
class bulk_near_end {
public:
  [[nodiscard]] static std::expected<std::unique_ptr<bulk_near_end>, std::string> connect(const std::string& address);
  ~bulk_near_end();

  /// Asks `count` questions, one after the other, with nothing else on the link.
  [[nodiscard]] std::expected<std::vector<seconds>, std::string> ask(std::uint64_t count);

  /// Sends the large messages. Returns the time until the far end has handled all of them.
  [[nodiscard]] std::expected<seconds, std::string> send_bulk(std::uint64_t messages);

  struct both {
    seconds bulk_took;
    std::vector<seconds> round_trips;
  };

  /// Sends the large messages, and asks questions until they have been handled.
  [[nodiscard]] std::expected<both, std::string> ask_beside_bulk(std::uint64_t messages);

private:
  class parts;
  explicit bulk_near_end(std::unique_ptr<parts> made);
  std::unique_ptr<parts> parts_;
};

} // namespace bench
