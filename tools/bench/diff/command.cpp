#include "bench/diff/command.hpp"

#include "bench/diff/comparison.hpp"

#include "arguments.hpp"
#include "text.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <memory>

namespace troupe::tools {

namespace {

constexpr std::size_t compared_bytes_most = std::size_t{256} << 20;

struct diff_arguments {
  std::string before;
  std::string after;
  std::string allowed = "5%";
  diff_options options = {};
  bool is_json = false;
};

[[nodiscard]] std::expected<double, std::string> read_part(std::string text) {
  double percent = 0;
  const auto refusal = std::unexpected{fmt::format("\"{}\" is no percentage; write it as 5%", text)};
  if (!text.empty() && text.back() == '%')
    text.pop_back();
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), percent);
  constexpr double percent_most = 1'000;
  if (failure != std::errc{} || end != text.data() + text.size() || !(percent >= 0 && percent <= percent_most))
    return refusal;
  return percent / 100;
}

[[nodiscard]] std::expected<comparable, std::string> comparable_in(const std::string& file) {
  const auto text = content_of(file, compared_bytes_most);
  return text ? read_comparable(*text, file) : std::unexpected{text.error()};
}

void show_difference(diff_arguments asked, const answer_to& to) {
  const auto allowed = read_part(asked.allowed);
  if (!allowed)
    return to.fail("--allow: " + allowed.error(), bad_arguments);
  asked.options.allowed = *allowed;
  const auto before = comparable_in(asked.before);
  const auto after = comparable_in(asked.after);
  if (!before || !after)
    return to.fail((before ? after : before).error(), bad_arguments);
  const auto made = compared(*before, *after, asked.options);
  if (!made)
    return to.fail(made.error(), bad_arguments);
  for (const auto& each : made->warnings)
    to.say(each);
  to.out << (asked.is_json ? json_of(*made, asked.options) : printable(text_of(*made, asked.options)));
  for (const auto& each : made->all)
    if (each.is_slower_by(asked.options.allowed))
      to.fail(fmt::format("{}: {} is slower than allowed", each.measurement, each.quantity));
}

} // namespace

void add_diff_command(CLI::App& bench, const answer_to& to) {
  auto asked = std::make_shared<diff_arguments>();
  auto* const command =
      bench.add_subcommand("diff", "Compares two JSON documents of this command: ratios with 95 % intervals, for CI");
  command->add_option("before", asked->before, "The document of the older program")->required()->option_text("FILE");
  command->add_option("after", asked->after, "The document of the newer program")->required()->option_text("FILE");
  const std::vector<std::string> quantities(std::begin(compared_quantities), std::end(compared_quantities));
  command
      ->add_option("--quantity", asked->options.quantities,
                   "What to compare (default rate,p99), separated by commas, of: "
                       + CLI::detail::join(quantities, ", "))
      ->delimiter(',')
      ->check(is_one_of(quantities))
      ->option_text("KEY");
  command->add_option("--allow", asked->allowed, "How much slower is no failure (default 5%)")->option_text("PERCENT");
  command->add_option("--seed", asked->options.seed, "Of the bootstrap")
      ->check(is_whole_within(0, std::numeric_limits<std::uint64_t>::max()))
      ->capture_default_str();
  command->add_flag("--json", asked->is_json, "One JSON document instead of text");
  command->callback([asked, to] { show_difference(*asked, to); });
}

} // namespace troupe::tools
