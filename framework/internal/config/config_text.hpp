// The text of a configuration file: Troupe's own items line by line, and the rest for CAF.
//
// CAF 0.17 reads neither quoted keys, such as addresses, nor keys that contain dots, and does not tell the line of a
// key. So this code reads the items that begin with `troupe`, with CAF's own syntax and these additions. CAF reads the
// rest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

/// The position of a key.
struct config_place {
  std::string file;     // As named by the caller, or "command line: --key".
  std::size_t line = 0; // From 1; 0 on the command line.

  /// For example "kitchen.ini:7" or "command line".
  [[nodiscard]] std::string text() const;
};

struct config_value {
  enum class shape : std::uint8_t {
    word,  ///< A number, a duration, true, false; on the command line any unquoted text.
    text,  ///< In quotes.
    list,  ///< In brackets.
    group, ///< In braces; its content is items of their own.
  };

  shape form = shape::word;
  std::string text;                   // The word itself, or the text in quotes after unescaping.
  std::vector<config_value> elements; // For lists.
  bool is_argument = false;           // From the command line, where the shell may have removed the quotes.
  bool is_switch = false;             // From the command line, without a value: true.
};

/// One of Troupe's keys and its value.
struct config_item {
  std::vector<std::string> path; // Without the leading "troupe".
  config_value value;
  config_place place;
};

struct config_text {
  std::vector<config_item> items;
  /// The text with Troupe's items and all comments replaced by blanks, so that lines and columns stay the same.
  std::string rest;
};

/// The largest file that is read.
inline constexpr std::size_t config_text_bytes_max = std::size_t{1} << 20;

/// Reads a whole file. Fails with `bad_option` if it is not a configuration; the text names file and line.
[[nodiscard]] std::expected<config_text, node_error> read_config_text(std::string_view text, const std::string& file);

/// Reads an argument without its dashes, such as `troupe.links.default.spill-bytes=65536`. Without a `=` its value is
/// true.
[[nodiscard]] std::expected<config_item, node_error> read_config_argument(std::string_view argument);

/// For example "troupe.links."tcp://10.0.0.2:7001".compression".
[[nodiscard]] std::string dotted(const std::vector<std::string>& path);

} // namespace troupe::internal
