#include <troupe/framework/cluster/internal/dns/dns_message.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include <arpa/inet.h>
#include <netinet/in.h>

namespace troupe::cluster_directories {

namespace {

constexpr std::size_t name_bytes_max = 255;
constexpr std::size_t answers_max = 8'192; // More do not fit in a message.
constexpr int aliases_max = 16;
constexpr std::uint16_t class_internet = 1;

/// Reads a message from front to back. After a failure every read gives zeros, and `is_good` is false.
class message_reader {
public:
  explicit message_reader(std::span<const unsigned char> bytes) : bytes_(bytes) {}

  [[nodiscard]] bool is_good() const noexcept { return is_good_; }

  std::uint16_t read_16() {
    const auto two = read(2);
    return two.empty() ? std::uint16_t{0} : static_cast<std::uint16_t>(two[0] << 8 | two[1]);
  }
  std::uint32_t read_32() {
    const std::uint32_t high = read_16();
    return high << 16 | read_16();
  }

  std::span<const unsigned char> read(std::size_t count) {
    if (!is_good_ || bytes_.size() - at_ < count) {
      is_good_ = false;
      return {};
    }
    at_ += count;
    return bytes_.subspan(at_ - count, count);
  }

  /// Reads a name, which may end with a pointer to an earlier one. Each pointer must lead further back than the one
  /// before, so that reading ends.
  std::string read_name() {
    std::string name;
    auto at = at_;
    auto limit = at_; // A pointer must lead before this.
    std::optional<std::size_t> behind;
    while (is_good_) {
      if (at >= bytes_.size())
        return fail();
      const std::size_t length = bytes_[at];
      if (length == 0) {
        at_ = behind.value_or(at + 1);
        return name;
      }
      if (length >= 0xc0) {
        if (at + 1 >= bytes_.size())
          return fail();
        const auto target = (length & 0x3f) << 8 | bytes_[at + 1];
        if (target >= limit)
          return fail();
        behind = behind.value_or(at + 2);
        at = limit = target;
        continue;
      }
      if (length > 0x3f || at + 1 + length > bytes_.size() || name.size() + length + 1 > name_bytes_max)
        return fail();
      append_label(name, bytes_.subspan(at + 1, length));
      at += 1 + length;
    }
    return {};
  }

private:
  std::string fail() {
    is_good_ = false;
    return {};
  }

  static void append_label(std::string& name, std::span<const unsigned char> label) {
    if (!name.empty())
      name += '.';
    for (const auto byte : label)
      name += static_cast<char>(byte >= 'A' && byte <= 'Z' ? byte + ('a' - 'A') : byte);
  }

  std::span<const unsigned char> bytes_;
  std::size_t at_ = 0;
  bool is_good_ = true;
};

std::string address_text(int family, std::span<const unsigned char> bytes) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(family, bytes.data(), text.data(), text.size());
  return family == AF_INET6 ? '[' + std::string{text.data()} + ']' : std::string{text.data()};
}

/// Reads one record of the answer section. Returns nullopt for a type that does not matter, or an impossible value.
std::optional<dns_record> read_record(message_reader& reader) {
  dns_record record;
  record.name = reader.read_name();
  record.type = static_cast<dns_type>(reader.read_16());
  const auto record_class = reader.read_16();
  record.ttl_s = reader.read_32();
  if (record.ttl_s > std::numeric_limits<std::int32_t>::max())
    record.ttl_s = 0; // RFC 2181, 8.
  const std::size_t length = reader.read_16();
  // A name in the value may point to names before it, so that the value is read from the whole message.
  auto value = reader;
  const auto bytes = reader.read(length);
  if (!reader.is_good() || record_class != class_internet)
    return std::nullopt;
  switch (record.type) {
  case dns_type::a:
    if (length != 4)
      return std::nullopt;
    record.value = address_text(AF_INET, bytes);
    return record;
  case dns_type::aaaa:
    if (length != 16)
      return std::nullopt;
    record.value = address_text(AF_INET6, bytes);
    return record;
  case dns_type::cname:
    record.value = value.read_name();
    break;
  case dns_type::srv:
    value.read_32(); // Priority and weight.
    record.port = value.read_16();
    record.value = value.read_name();
    break;
  default:
    return std::nullopt;
  }
  return value.is_good() ? std::optional{record} : std::nullopt;
}

} // namespace

std::expected<dns_message, std::string> read_dns_message(std::span<const unsigned char> bytes) {
  message_reader reader{bytes};
  reader.read(4); // Number and flags, which the resolver has checked.
  const auto questions = reader.read_16();
  const auto answers = reader.read_16();
  reader.read(4);
  dns_message message;
  if (questions != 1 || answers > answers_max)
    return std::unexpected{"the answer has " + std::to_string(questions) + " questions and " + std::to_string(answers)
                           + " records"};
  message.question = reader.read_name();
  reader.read(4);
  for (int each = 0; each < answers && reader.is_good(); ++each)
    if (auto record = read_record(reader))
      message.answers.push_back(*std::move(record));
  if (!reader.is_good())
    return std::unexpected{"the answer of " + std::to_string(bytes.size()) + " bytes is malformed or truncated"};
  return message;
}

std::expected<dns_answer, std::string> answer_to_question(const dns_message& message, dns_type type) {
  dns_answer answer{.records = {}, .ttl_s = std::numeric_limits<std::int32_t>::max()};
  auto name = message.question;
  for (int aliases = 0; aliases <= aliases_max; ++aliases) {
    for (const auto& record : message.answers)
      if (record.type == type && record.name == name) {
        answer.ttl_s = std::min(answer.ttl_s, record.ttl_s);
        answer.records.push_back(record);
      }
    const auto alias = std::ranges::find_if(message.answers, [&](const dns_record& record) {
      return record.type == dns_type::cname && record.name == name;
    });
    if (!answer.records.empty() || alias == message.answers.end())
      return answer;
    answer.ttl_s = std::min(answer.ttl_s, alias->ttl_s);
    name = alias->value;
  }
  return std::unexpected{"the answer has more than " + std::to_string(aliases_max) + " aliases (CNAME) in a row"};
}

} // namespace troupe::cluster_directories
