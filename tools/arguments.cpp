#include "arguments.hpp"

#include <troupe/base/sizes.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

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

CLI::Validator is_whole_within(std::uint64_t least, std::uint64_t most) {
  const auto text = fmt::format("a whole number of {} to {}", grouped(least), grouped(most));
  return CLI::Validator{[=](std::string& given) {
                          std::uint64_t number = 0;
                          const auto* const end = given.data() + given.size();
                          const auto [stop, failure] = std::from_chars(given.data(), end, number);
                          const auto is_one = failure == std::errc{} && stop == end;
                          return is_one && number >= least && number <= most ? std::string{}
                                                                             : given + " is not " + text;
                        },
                        text};
}

CLI::Validator is_not_empty() {
  return CLI::Validator{[](std::string& given) { return given.empty() ? "it is empty" : std::string{}; }, {}};
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
