// A recorded conversation: the packets of both ends of its links, in the order in which they passed a point in between.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace troupe::tests::compat {

using bytes = std::vector<std::byte>;

/// The numbers are those of the steps of a transcript.
enum class end : std::uint8_t { dialer = 1, acceptor = 2 };

[[nodiscard]] constexpr end other(end which) {
  return which == end::dialer ? end::acceptor : end::dialer;
}

struct packet {
  end from = end::dialer;
  std::uint8_t kind = 0;
  std::uint8_t detail = 0;
  bytes body;
  bool is_lost = false; // The link broke before the other end had read the packet.
};

using packets = std::vector<packet>;

/// The secret of all recorded links.
inline constexpr const char* recorded_secret = "a secret of at least 16 bytes";

struct conversation {
  std::string family;             // With which both ends encode their values.
  std::string subject = "values"; // subject::name of the actors that have talked.
  std::string troupe;             // The version of the project that was recorded.
  std::string protocol;           // Major and minor version.
  std::vector<packets> links;     // One after the other. Each link but the last has broken.
};

/// The text form of a conversation, which README.md describes.
[[nodiscard]] std::string to_text(const conversation& what);
/// Throws std::runtime_error, with the number of the line, if the text cannot be read.
[[nodiscard]] conversation from_text(const std::string& text);

[[nodiscard]] conversation read_conversation(const std::filesystem::path& file);

/// The preamble of protocol 1, and the head of a packet.
[[nodiscard]] bytes preamble();
[[nodiscard]] bytes head_of(const packet& what);
inline constexpr std::size_t head_bytes = 8;

} // namespace troupe::tests::compat
