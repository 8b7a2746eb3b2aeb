#include "arguments.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace troupe::tools {

CLI::Validator is_within(double least, double most) {
  const auto text = fmt::format("a number of {} to {}", least, most);
  return CLI::Validator{[=](std::string& given) {
                          double number = 0;
                          const auto is_one = CLI::detail::lexical_cast(given, number);
                          return is_one && number >= least && number <= most ? std::string{}
                                                                             : given + " is not " + text;
                        },
                        text};
}

CLI::Validator is_one_of(std::vector<std::string> words) {
  return CLI::Validator{[words = std::move(words)](std::string& given) {
                          return std::ranges::count(words, given) > 0
                                     ? std::string{}
                                     : fmt::format("\"{}\" is none of {}", given, fmt::join(words, ", "));
                        },
                        {}};
}

} // namespace troupe::tools
