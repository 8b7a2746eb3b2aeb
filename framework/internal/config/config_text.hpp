// A configuration file's text: what in it is Troupe's, line by line, and what is left for CAF.
//
// CAF 0.17 reads neither keys in quotes, such as addresses, nor keys with dots in them, nor says in which line a key
// stands. What begins with `troupe` is therefore read here, by CAF's own syntax with these additions, and the rest is
// CAF's to read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

/// Where a key stands.
struct config_place {
  std::string file;     // As it was named; the command line says so.
  std::size_t line = 0; // From 1; 0 on the command line.

  /// "kitchen.ini:7", "command line".
  [[nodiscard]] std::string text() const;
};

struct config_value {
  enum class shape : std::uint8_t {
    word,  ///< A number, a duration, true, false; on the command line any text without quotes.
    text,  ///< In quotes.
    list,  ///< In brackets.
    group, ///< In braces; what is in it are items of their own.
  };

  shape form = shape::word;
  std::string text;                   // A word as it stands, or what the text in quotes stands for.
  std::vector<config_value> elements; // Of a list.
  bool is_argument = false;           // From the command line, where the shell may have taken quotes away.
  bool is_switch = false;             // There, without a value: true.
};

/// One key of Troupe's with what it is set to.
struct config_item {
  std::vector<std::string> path; // Without "troupe" at its beginning.
  config_value value;
  config_place place;
};

struct config_text {
  std::vector<config_item> items;
  /// The text with blanks instead of what is Troupe's and of comments, so that lines and columns stay.
  std::string rest;
};

/// Reads a whole file. Fails with `bad_option` for what is no configuration, naming file and line.
[[nodiscard]] std::expected<config_text, node_error> read_config_text(std::string_view text, const std::string& file);

/// Reads `troupe.links.default.spill-bytes=65536`, an argument without its dashes. Where no `=` follows, it is true.
[[nodiscard]] std::expected<config_item, node_error> read_config_argument(std::string_view argument);

/// "troupe.links."tcp://10.0.0.2:7001".compression".
[[nodiscard]] std::string dotted(const std::vector<std::string>& path);

} // namespace troupe::internal
