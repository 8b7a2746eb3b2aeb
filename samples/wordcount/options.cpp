#include "options.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <ranges>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

namespace wordcount {

namespace {

constexpr std::size_t workers_max = 200; // The store allows 256 processes.
constexpr std::size_t top_max = 1'000'000'000;
constexpr std::size_t block_bytes_max = 1 << 30;
constexpr int bad_arguments = 2;

constexpr std::array<std::pair<std::string_view, transport>, 2> transports{
    {{"unix", transport::unix_socket}, {"tcp", transport::tcp}}};

/// Reports which argument is wrong and why, as CLI11 does for its own checks.
[[noreturn]] void refuse(const std::string& option, const std::string& why) {
  throw CLI::ValidationError(option, why);
}

std::vector<std::string> read_families(const std::string& option, std::string_view text,
                                       const troupe::family_set& known) {
  std::vector<std::string> families;
  for (const auto part : std::views::split(text, ',')) {
    std::string name(part.begin(), part.end());
    if (known.find(name) == nullptr)
      refuse(option, "there is no family '" + name + "'; known are " + CLI::detail::join(known.names(), ", "));
    families.push_back(std::move(name));
  }
  if (families.empty())
    refuse(option, "at least one family is needed");
  return families;
}

transport read_transport(const std::string& option, const std::string& text) {
  std::string known;
  for (const auto& [name, over] : transports) {
    if (name == text)
      return over;
    known += (known.empty() ? "" : ", ") + std::string{name};
  }
  refuse(option, "there is no transport '" + text + "'; known are " + known);
}

/// Splits a text such as "2=rest" and checks the number.
std::pair<std::size_t, std::string> read_numbered(const std::string& option, const std::string& text,
                                                  std::size_t workers) {
  const auto equals = text.find('=');
  std::size_t number = 0;
  const auto* const begin = text.data();
  if (equals == std::string::npos)
    refuse(option, "'" + text + "' is not of the form NUMBER=...");
  if (const auto [end, error] = std::from_chars(begin, begin + equals, number);
      error != std::errc{} || end != begin + equals)
    refuse(option, "'" + text + "' does not begin with a worker's number");
  if (number == 0 || number > workers)
    refuse(option, "'" + text + "' names worker " + std::to_string(number) + "; there are workers 1 to "
                       + std::to_string(workers));
  return {number, text.substr(equals + 1)};
}

std::size_t cores() {
  return std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, workers_max);
}

/// The command line as CLI11 reads it, before further checks and splitting.
struct raw_options {
  std::string transport = to_string(transport::unix_socket);
  std::string families = "typed,msgpack";
  std::vector<std::string> worker_families;
  std::vector<std::string> faults;
  std::string output;
  std::size_t start_seconds = 10;
  worker_assignment assignment;
};

void declare(CLI::App& app, options& result, raw_options& raw) {
  app.add_option("FOLDER", result.folder, "Count the words of the regular files below this folder")
      ->capture_default_str();
  app.add_option("--workers", result.workers, "Number of worker processes (default: one per core)")
      ->check(CLI::Range(std::size_t{1}, workers_max));
  app.add_option("--transport", raw.transport,
                 "Transport of the workers' links: unix (sockets), or tcp (on the loopback interface)")
      ->capture_default_str();
  app.add_option("--families", raw.families, "Families of the workers' links, in order of preference")
      ->capture_default_str();
  app.add_option("--worker-families", raw.worker_families,
                 "Other families for one worker's link, e.g. 2=msgpack; repeatable")
      ->allow_extra_args(false);
  app.add_option("--top", result.top, "Number of most frequent words to show")
      ->check(CLI::Range(std::size_t{0}, top_max))
      ->capture_default_str();
  app.add_option("--output", raw.output, "Write every word to this file, as count<TAB>word, most frequent first");

  const std::string hidden;
  app.add_option("--block-bytes", result.block_bytes)
      ->check(CLI::Range(std::size_t{1}, block_bytes_max))
      ->group(hidden);
  app.add_option("--store-bytes", result.store_bytes)->group(hidden);
  app.add_option("--start-seconds", raw.start_seconds)->group(hidden);
  app.add_option("--fault", raw.faults)->allow_extra_args(false)->group(hidden);
  app.add_option("--as-worker", raw.assignment.number)->group(hidden);
  app.add_option("--store", raw.assignment.store)->group(hidden);
}

void refine(options& result, const CLI::App& app, const raw_options& raw, const troupe::family_set& known_families) {
  result.over = read_transport("--transport", raw.transport);
  result.families = read_families("--families", raw.families, known_families);
  result.start_timeout = std::chrono::seconds(raw.start_seconds);
  if (app.count("--output") > 0)
    result.output = raw.output;
  if (result.output && result.output->empty())
    refuse("--output", "the name of a file is needed");
  for (const auto& text : raw.worker_families) {
    const auto [number, families] = read_numbered("--worker-families", text, result.workers);
    if (!result.worker_families.emplace(number, read_families("--worker-families", families, known_families)).second)
      refuse("--worker-families", "worker " + std::to_string(number) + " is given families twice");
  }
  for (const auto& text : raw.faults) {
    const auto [number, what] = read_numbered("--fault", text, result.workers);
    const auto fault = read_fault(what);
    if (!fault)
      refuse("--fault", "'" + text + "' is not of the form NUMBER=BLOCK:kill, :stop or :fail");
    result.faults[number] = *fault;
  }
  if (raw.assignment.number > 0)
    result.assignment = raw.assignment;
}

} // namespace

std::string to_string(transport of) {
  return std::string{std::ranges::find(transports, of, &decltype(transports)::value_type::second)->first};
}

const std::vector<std::string>& options::families_of(std::size_t worker) const {
  const auto found = worker_families.find(worker);
  return found == worker_families.end() ? families : found->second;
}

std::expected<options, int> read_options(int argc, const char* const* argv, const troupe::family_set& known_families) {
  CLI::App app{
      "Counts the words of all regular files below a folder with several worker processes. Words are maximal runs\n"
      "of the bytes [A-Za-z0-9_]. The text lies in a shared store; the workers get handles to it and read it in place.",
      "wordcount"};
  options result;
  result.workers = cores();
  raw_options raw;
  declare(app, result, raw);
  try {
    app.parse(argc, argv);
    refine(result, app, raw, known_families);
    return result;
  } catch (const CLI::ParseError& error) {
    const auto is_help = error.get_exit_code() == 0;
    return std::unexpected{app.exit(error) == 0 && is_help ? 0 : bad_arguments};
  }
}

std::vector<std::string> worker_arguments(const options& job, const worker_assignment& assignment) {
  const auto number = std::to_string(assignment.number);
  std::vector<std::string> arguments{
      "--as-worker", number,           "--workers",  number,
      "--store",     assignment.store, "--families", CLI::detail::join(job.families_of(assignment.number), ",")};
  if (const auto found = job.faults.find(assignment.number); found != job.faults.end())
    arguments.insert(arguments.end(), {"--fault", number + "=" + to_string(found->second)});
  return arguments;
}

} // namespace wordcount
