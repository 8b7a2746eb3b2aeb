// The answers of DNS servers (RFC 1035, 2782, 3596), as far as members are found by them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <vector>

namespace troupe::cluster_directories {

enum class dns_type : std::uint16_t { a = 1, cname = 5, aaaa = 28, srv = 33 };

/// A record of the answer section. Names are in lower case and end without a dot.
struct dns_record {
  std::string name;
  dns_type type = dns_type::a;
  std::uint32_t ttl_s = 0;
  std::string value;      // Of A and AAAA: the address, the latter in brackets. Of CNAME and SRV: the target.
  std::uint16_t port = 0; // Of SRV.
};

struct dns_message {
  std::string question; // The name that was asked for.
  std::vector<dns_record> answers;
};

/// Reads a message; records of other types and classes are left out. Fails, with the reason, if the message is
/// malformed or truncated.
[[nodiscard]] std::expected<dns_message, std::string> read_dns_message(std::span<const unsigned char> bytes);

struct dns_answer {
  std::vector<dns_record> records; // Of the asked type.
  std::uint32_t ttl_s = 0;         // The shortest of them and of the aliases (CNAME) that lead to them.
};

/// The records of `type` that belong to the question, directly or by aliases. Fails, with the reason, if the aliases
/// are too many.
[[nodiscard]] std::expected<dns_answer, std::string> answer_to_question(const dns_message& message, dns_type type);

} // namespace troupe::cluster_directories
