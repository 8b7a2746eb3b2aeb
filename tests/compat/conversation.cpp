#include "conversation.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "protocol_1.hpp"

namespace troupe::tests::compat {

namespace {

constexpr std::array<std::pair<std::uint8_t, std::string_view>, 7> kinds{
    {{1, "admin"}, {2, "message"}, {3, "chunk"}, {4, "signature"}, {5, "header"}, {7, "handles"}, {8, "object_chunk"}}};

constexpr std::size_t bytes_per_line = 32;
constexpr std::size_t shortest_run = 16;

std::string hex(std::byte each) {
  constexpr std::string_view digits = "0123456789abcdef";
  const auto value = std::to_integer<unsigned>(each);
  return {digits[value >> 4], digits[value & 15]};
}

/// Appends the bytes in lines, and each run of equal bytes as "78*70000".
void append_hex(std::string& to, const bytes& body) {
  std::size_t in_line = 0;
  for (auto at = body.begin(); at != body.end();) {
    const auto run_end = std::find_if(at, body.end(), [&](std::byte each) { return each != *at; });
    const auto run = static_cast<std::size_t>(run_end - at);
    to += in_line == 0 ? "  " : " ";
    to += hex(*at);
    if (run >= shortest_run) {
      to += '*' + std::to_string(run);
      at = run_end;
    } else {
      ++at;
    }
    if (++in_line == bytes_per_line) {
      to += '\n';
      in_line = 0;
    }
  }
  if (in_line > 0)
    to += '\n';
}

[[noreturn]] void fail_at(std::size_t line, const std::string& why) {
  throw std::runtime_error("line " + std::to_string(line) + ": " + why);
}

/// Reads "1f" or "78*70000".
void append_bytes(bytes& to, const std::string& word, std::size_t line) {
  std::size_t used = 0;
  unsigned long value = 256;
  unsigned long count = 1;
  try {
    value = std::stoul(word, &used, 16);
    if (used < word.size() && word[used] == '*')
      count = std::stoul(word.substr(used + 1));
    else if (used != 2 || word.size() != 2)
      value = 256;
  } catch (const std::exception&) {
    value = 256;
  }
  if (value > 255)
    fail_at(line, "\"" + word + "\" is no byte");
  to.insert(to.end(), count, static_cast<std::byte>(value));
}

std::string name_of(std::uint8_t kind) {
  const auto* known = std::ranges::find(kinds, kind, [](const auto& each) { return each.first; });
  return known == kinds.end() ? std::to_string(kind) : std::string{known->second};
}

/// Reads a name, or the number of a kind that has no name here.
std::uint8_t kind_of(const std::string& word, std::size_t line) {
  const auto* known = std::ranges::find(kinds, std::string_view{word}, [](const auto& each) { return each.second; });
  if (known != kinds.end())
    return known->first;
  const auto is_number = word.size() <= 3 && std::ranges::all_of(word, [](char c) { return c >= '0' && c <= '9'; });
  const auto number = is_number ? std::stoul(word) : 256;
  if (number > 255)
    fail_at(line, "\"" + word + "\" is no kind of packets");
  return static_cast<std::uint8_t>(number);
}

packet head_in(std::istringstream& words, const std::string& side, std::size_t line) {
  packet result;
  if (side != "dialer" && side != "acceptor")
    fail_at(line, "\"" + side + "\" is no end of a link");
  result.from = side == "dialer" ? end::dialer : end::acceptor;
  std::string kind;
  unsigned detail = 256;
  if (!(words >> kind >> detail) || detail > 255)
    fail_at(line, "a packet needs a kind and a detail");
  result.kind = kind_of(kind, line);
  result.detail = static_cast<std::uint8_t>(detail);
  std::string more;
  if (words >> more) {
    if (more != "lost")
      fail_at(line, "\"" + more + "\" says nothing about a packet");
    result.is_lost = true;
  }
  return result;
}

void append_text(std::string& to, const packets& link) {
  std::map<end, link_reader> readers;
  for (const auto& each : link) {
    to += each.from == end::dialer ? "dialer " : "acceptor ";
    to += name_of(each.kind) + ' ' + std::to_string(each.detail) + (each.is_lost ? " lost" : "") + "  # "
          + summary_of(readers[each.from].read(each)) + '\n';
    append_hex(to, each.body);
  }
}

} // namespace

std::string to_text(const conversation& what) {
  std::string text =
      "# A recorded link. README.md describes this form and how to record.\nfamily " + what.family + '\n';
  if (what.subject != conversation{}.subject)
    text += "subject " + what.subject + '\n';
  text += "troupe " + what.troupe + "\nprotocol " + what.protocol + '\n';
  for (std::size_t i = 0; i < what.links.size(); ++i) {
    if (i > 0)
      text += "link " + std::to_string(i + 1) + '\n';
    append_text(text, what.links[i]);
  }
  return text;
}

conversation from_text(const std::string& text) {
  conversation result{.links = {{}}};
  std::istringstream lines{text};
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const auto is_body = line.starts_with("  ");
    std::istringstream words{line.substr(0, line.find('#'))};
    std::string first;
    if (!(words >> first))
      continue;
    auto& link = result.links.back();
    if (is_body) {
      if (link.empty())
        fail_at(number, "bytes before the first packet");
      do
        append_bytes(link.back().body, first, number);
      while (words >> first);
    } else if (first == "family") {
      words >> result.family;
    } else if (first == "subject") {
      words >> result.subject;
    } else if (first == "troupe") {
      words >> result.troupe;
    } else if (first == "protocol") {
      words >> result.protocol;
    } else if (first == "link") {
      std::size_t next = 0;
      if (link.empty() || !(words >> next) || next != result.links.size() + 1)
        fail_at(number, "a link that is not the next one");
      result.links.emplace_back();
    } else {
      link.push_back(head_in(words, first, number));
    }
  }
  if (result.links.back().empty())
    fail_at(number, "no packets");
  return result;
}

conversation read_conversation(const std::filesystem::path& file) {
  std::ifstream in{file};
  std::ostringstream text;
  text << in.rdbuf();
  if (!in)
    throw std::runtime_error("cannot read " + file.string());
  try {
    return from_text(text.str());
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(file.string() + ", " + error.what());
  }
}

bytes preamble() {
  bytes result;
  for (const auto each : {0x54, 0x52, 0x4f, 0x55, 0x50, 0x45, 0x01, 0x00}) // "TROUPE", version 1.
    result.push_back(static_cast<std::byte>(each));
  return result;
}

bytes head_of(const packet& what) {
  bytes head;
  for (unsigned shift = 0; shift < 32; shift += 8)
    head.push_back(static_cast<std::byte>(what.body.size() >> shift & 0xff));
  head.push_back(static_cast<std::byte>(what.kind));
  head.push_back(static_cast<std::byte>(what.detail));
  head.resize(head_bytes);
  return head;
}

} // namespace troupe::tests::compat
