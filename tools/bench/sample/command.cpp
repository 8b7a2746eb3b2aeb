#include "bench/sample/command.hpp"

#include "bench/families.hpp"
#include "bench/measurement.hpp"
#include "bench/sample/sample_values.hpp"

#include "arguments.hpp"
#include "text.hpp"

#include "harness/plot.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include <troupe/framework/bench/compare.hpp>
#include <troupe/framework/log.hpp>

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::frame)

namespace troupe::tools {

namespace {

constexpr std::size_t file_bytes_most = std::size_t{1} << 28;

using compared = std::expected<troupe::bench::comparison, node_error>;

/// What both comparisons have in common: those of the families that carry any value, and that of the bytes of "typed".
[[nodiscard]] troupe::bench::compare_options options_of(const sample_arguments& asked, const bench_request& shared,
                                                        const std::string& type) {
  troupe::bench::compare_options made;
  made.compressions.clear();
  for (const auto& each : shared.compressions)
    made.compressions.push_back(compression_of(each));
  made.over = asked.over;
  made.rounds = static_cast<std::size_t>(shared.is_quick ? 1 : shared.rounds);
  constexpr double seconds_standard = 5;
  constexpr double seconds_quick = 0.2;
  const auto seconds = shared.is_quick            ? seconds_quick
                       : shared.total_seconds > 0 ? shared.total_seconds
                                                  : seconds_standard;
  made.time = std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1e3));
  made.name = type;
  return made;
}

/// Sends the bytes of the family as they are. Their C++ type is missing, so their codec cannot be measured.
[[nodiscard]] compared compare_typed(const sample_values& samples, troupe::bench::compare_options options) {
  options.families = {"typed"};
  auto made = troupe::bench::compare<frame>(samples.typed, options);
  if (made)
    for (auto& row : made->rows)
      row.needs_program = true;
  return made;
}

/// Rows for a family that cannot be compared.
void add_failed(troupe::bench::comparison& to, const std::string& family, const troupe::bench::compare_options& options,
                const std::string& why) {
  for (const auto& over : options.over)
    to.rows.push_back({.family = family, .compression = options.compressions.front(), .over = over, .failure = why});
}

void add_rows(troupe::bench::comparison& to, const std::string& family, const compared& from) {
  for (const auto& row : from->rows)
    if (row.family == family)
      to.rows.push_back(row);
  to.rounds = to.rounds == 0 ? from->rounds : std::min(to.rounds, from->rounds);
  to.is_optimized = to.is_optimized && from->is_optimized;
}

[[nodiscard]] compared compare_all(const sample_values& samples, const std::vector<std::string>& families,
                                   troupe::bench::compare_options options) {
  const auto is_asked = [&](std::string_view family) { return std::ranges::find(families, family) != families.end(); };
  const auto has_typed = is_asked("typed") && !samples.typed.empty();
  troupe::bench::compare_options of_records = options;
  of_records.families.clear();
  for (const auto* each : {"msgpack", "json"})
    if (is_asked(each))
      of_records.families.emplace_back(each);
  const auto parts = of_records.families.size() + (has_typed ? 1 : 0);
  if (parts > 0) {
    of_records.time = options.time * static_cast<int>(of_records.families.size()) / static_cast<int>(parts);
    options.time = options.time / static_cast<int>(parts);
  }
  compared records;
  if (!of_records.families.empty())
    records = troupe::bench::compare<record>(samples.values, of_records);
  if (!records)
    return records;
  auto typed = has_typed ? compare_typed(samples, options) : compared();
  if (!typed)
    return typed;
  troupe::bench::comparison made{.type = samples.type, .samples = samples.values.size(), .rounds = 0};
  made.note =
      "from a contract: the times of msgpack and json are those of a record, which takes longer than the program's "
      "own type";
  for (const auto& family : families) {
    if (std::ranges::find(of_records.families, family) != of_records.families.end())
      add_rows(made, family, records);
    else if (family == "typed" && has_typed)
      add_rows(made, family, typed);
    else
      add_failed(made, family, options,
                 family == "typed" ? "needs the program: the contract does not tell the bytes of this type"
                                   : "needs the program: it encodes by functions of the type itself");
  }
  return made;
}

[[nodiscard]] std::string wrong_with(const sample_arguments& asked, const bench_request& shared) {
  if (asked.contract_file.empty())
    return "--sample needs the contract of its type (--contract), as troupe::contract_of() returns it";
  if (!shared.svg_file.empty()) {
    if (!can_write(shared.svg_file))
      return shared.svg_file + " cannot be written";
    if (const auto possible = ::bench::can_draw(); !possible)
      return "--svg: " + possible.error();
  }
  return {};
}

} // namespace

void add_sample_options(CLI::App& command, sample_arguments& asked) {
  auto* const sample =
      command
          .add_option(
              "--sample", asked.sample_file,
              "Compares families, and compressions, for the value or the list of values in this file of JSON, without "
              "the program. Uses --family (default typed,msgpack,json), --compression, --rounds, --total (default 5), "
              "--json and --svg")
          ->option_text("FILE");
  command
      .add_option("--contract", asked.contract_file,
                  "With --sample: the contract of the program's types, as troupe::contract_of() returns it")
      ->option_text("FILE")
      ->needs(sample);
  command.add_option("--type", asked.type, "With --sample: the alias of the value's type, if the contract has several")
      ->option_text("ALIAS")
      ->needs(sample);
  command
      .add_option(
          "--over", asked.over,
          "With --sample: kinds of links (default unix,tcp), separated by commas, of: unix, tcp, store; with store, "
          "the ends share a store")
      ->delimiter(',')
      ->check(is_one_of({"unix", "tcp", "store"}))
      ->option_text("KEY")
      ->needs(sample);
}

void compare_sample(const sample_arguments& asked, const bench_request& shared, const CLI::App& command,
                    const answer_to& to) {
  if (const auto wrong = wrong_with(asked, shared); !wrong.empty())
    return to.fail(wrong, bad_arguments);
  const auto json = content_of(asked.sample_file, file_bytes_most);
  const auto contract = content_of(asked.contract_file, file_bytes_most);
  if (!json || !contract)
    return to.fail(json ? contract.error() : json.error(), bad_arguments);
  const auto samples = read_samples(*json, *contract, asked.type);
  if (!samples)
    return to.fail(samples.error(), bad_arguments);
  warn_about_machine(to);
  if (std::getenv("TROUPE_LOG") == nullptr)
    set_log_threshold(log_level::error); // The command itself reports what goes wrong.
  const auto families =
      command.count("--family") > 0 ? shared.families : std::vector<std::string>{"typed", "msgpack", "json"};
  const auto made = compare_all(*samples, families, options_of(asked, shared, samples->type));
  if (!made)
    return to.fail(made.error().message());
  if (std::ranges::none_of(made->rows, &troupe::bench::comparison_row::is_measured))
    to.fail("nothing was measured");
  to.out << (shared.is_json ? made->json() : printable(made->table() + '\n' + made->advice() + '\n'));
  if (shared.svg_file.empty())
    return;
  if (const auto svg = made->svg())
    write(shared.svg_file, *svg, to);
  else
    to.fail(svg.error().message());
}

} // namespace troupe::tools
