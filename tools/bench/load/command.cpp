#include "bench/load/command.hpp"

#include "bench/load/knee.hpp"
#include "bench/load/load_document.hpp"
#include "bench/load/load_report.hpp"
#include "bench/load/sink.hpp"
#include "bench/load/source.hpp"

#include "arguments.hpp"
#include "nodes/client.hpp"
#include "text.hpp"

#include "harness/plot.hpp"
#include "harness/report.hpp"
#include "harness/rounds.hpp"
#include "harness/stop_signals.hpp"

#include <troupe/framework/log.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <set>

#include <poll.h>

namespace troupe::tools {

namespace {

constexpr std::size_t document_bytes_most = std::size_t{256} << 20;

[[nodiscard]] std::chrono::nanoseconds from_seconds(double seconds) {
  return std::chrono::nanoseconds{static_cast<std::int64_t>(seconds * 1e9)};
}

[[nodiscard]] load_access access_of(const load_arguments& asked, const bench_request& shared) {
  return {.known_by = asked.known_by,
          .compression = shared.compressions.front(),
          .io_threads = asked.io_threads,
          .timeout = std::chrono::duration_cast<std::chrono::milliseconds>(from_seconds(asked.timeout_seconds))};
}

[[nodiscard]] std::expected<size_mix, std::string> sizes_of(const load_arguments& asked, const bench_request& shared,
                                                            bool is_size_given) {
  if (!asked.sizes_file.empty()) {
    constexpr std::size_t bytes_most = std::size_t{1} << 20;
    const auto text = content_of(asked.sizes_file, bytes_most);
    return text ? size_mix::read(*text, asked.sizes_file) : std::unexpected{text.error()};
  }
  constexpr std::size_t default_bytes = 64;
  if (!is_size_given)
    return size_mix{default_bytes};
  if (shared.sizes.size() != 1)
    return std::unexpected{std::string{"--size: with --to, one size; for several, a file and --sizes"}};
  auto read = read_size(shared.sizes.front());
  if (!read)
    return std::unexpected{"--size: " + read.error()};
  if (*read < size_mix::bytes_least || *read > size_mix::bytes_most)
    return std::unexpected{fmt::format("--size: with --to, from {} to {}", text_of_size(size_mix::bytes_least),
                                       text_of_size(size_mix::bytes_most))};
  return size_mix{*read};
}

/// The first thing that is wrong with the arguments, or empty.
[[nodiscard]] std::string wrong_with(const load_arguments& asked, const bench_request& shared,
                                     const CLI::App& command) {
  const auto is_given = [&](const char* name) { return command.count(name) > 0; };
  for (const auto& [name, values] : {std::pair{"--pattern", &shared.patterns}, std::pair{"--family", &shared.families},
                                     std::pair{"--compression", &shared.compressions}})
    if (is_given(name) && values->size() != 1)
      return fmt::format("{}: with --to or --serve, one", name);
  if (is_given("--pattern") && shared.patterns.front() != "echo" && shared.patterns.front() != "one-way")
    return "--pattern: with --to, echo or one-way";
  for (const auto& file : {asked.hgrm_file, shared.svg_file})
    if (!file.empty() && !can_write(file))
      return file + " cannot be written";
  if (!shared.svg_file.empty())
    if (const auto possible = bench::can_draw(); !possible)
      return "--svg: " + possible.error();
  return {};
}

[[nodiscard]] std::expected<source_options, std::string>
source_options_of(const load_arguments& asked, const bench_request& shared, const CLI::App& command) {
  if (auto wrong = wrong_with(asked, shared, command); !wrong.empty())
    return std::unexpected{std::move(wrong)};
  const auto rate = read_rate(asked.rate);
  if (!rate)
    return std::unexpected{"--rate: " + rate.error()};
  const auto limit = read_time(asked.limit);
  if (!limit)
    return std::unexpected{"--limit: " + limit.error()};
  auto sizes = sizes_of(asked, shared, command.count("--size") > 0);
  if (!sizes)
    return std::unexpected{sizes.error()};
  constexpr double seconds_of_round = 10;
  constexpr double seconds_of_try = 3;
  const auto seconds = asked.seconds > 0 ? asked.seconds : asked.finds_knee ? seconds_of_try : seconds_of_round;
  return source_options{.addresses = asked.to,
                        .connections = asked.connections,
                        .family = shared.families.front(),
                        .data = shared.data,
                        .access = access_of(asked, shared),
                        .plan = {.how = asked.arrivals == "uniform" ? arrivals::uniform : arrivals::poisson,
                                 .rate = *rate,
                                 .warm_up = from_seconds(asked.warm_up_seconds),
                                 .measured = from_seconds(seconds),
                                 .patience = from_seconds(asked.timeout_seconds),
                                 .outstanding_most = asked.outstanding,
                                 .seed = asked.seed,
                                 .sizes = *std::move(sizes),
                                 .is_answered = command.count("--pattern") == 0 || shared.patterns.front() == "echo"},
                        .rounds = command.count("--rounds") > 0 ? shared.rounds : 1,
                        .finds_knee = asked.finds_knee,
                        .knee_limit = *limit};
}

/// Runs rounds, and reports what went wrong.
class offering {
public:
  offering(const source_options& options, bool is_late_allowed, const answer_to& to)
      : options_(options), is_late_allowed_(is_late_allowed), to_(to) {}

  /// Nullopt if nothing was measured, or nothing more can be.
  [[nodiscard]] std::optional<load_round> offer(load_source& from, const load_plan& plan,
                                                bench::stop_signals& signals) {
    auto made = from.offer(plan, signals);
    if (!made.failure.empty())
      to_.fail(made.failure);
    for (const auto& address : std::set<std::string>(made.lost.begin(), made.lost.end()))
      to_.fail(fmt::format("link_down: lost {} to {}", text_of_lost(made.lost, address), address));
    if (made.stopped_by != 0)
      to_.fail(fmt::format("stopped by signal {}; what was measured until then is shown", made.stopped_by),
               128 + made.stopped_by);
    can_go_on_ = made.failure.empty() && made.lost.empty() && made.stopped_by == 0;
    if (can_go_on_ && made.figures.scheduled == 0) {
      to_.fail("no request was due within the measured time; give it more --seconds or a higher --rate");
      can_go_on_ = false;
    }
    if (!made.failure.empty() || made.figures.scheduled == 0)
      return std::nullopt;
    return std::move(made.figures);
  }

  [[nodiscard]] bool can_go_on() const { return can_go_on_; }

  /// Fails, unless the user has allowed it, if the figures are those of the generator.
  void judge(const load_round& figures, const std::string& which) {
    const auto why = limit_of_generator(figures);
    if (why.empty() || !can_go_on_)
      return;
    const auto text = fmt::format("{}: the generator was the limit, not the peer: {}", which, why);
    if (is_late_allowed_)
      to_.say(text);
    else
      to_.fail(text + "; offer less, or allow it (--allow-late)");
  }

private:
  [[nodiscard]] std::string text_of_lost(const std::vector<std::string>& lost, const std::string& address) const {
    return options_.connections == 1
               ? "the link"
               : fmt::format("{} of the {} links", std::ranges::count(lost, address), options_.connections);
  }

  const source_options& options_;
  const bool is_late_allowed_;
  const answer_to& to_;
  bool can_go_on_ = true;
};

[[nodiscard]] std::string why_not_sustained(const load_round& figures, std::chrono::nanoseconds limit) {
  constexpr double percent = 99;
  const auto is_slow = figures.latency.percentile(percent) >= static_cast<std::uint64_t>(limit.count());
  if (keeps_up(figures) && !is_slow)
    return {};
  if (const auto why = limit_of_generator(figures); !why.empty())
    return "the generator was the limit: " + why;
  return is_slow ? "p99"
                 : fmt::format("achieved {:.1f} %", 100 * figures.achieved_per_second / figures.offered_per_second);
}

void measure_rounds(load_document& document, const source_options& options, load_source& from, offering& by,
                    bench::stop_signals& signals) {
  bench::progress progress;
  for (auto round = 0; round < options.rounds && by.can_go_on(); ++round) {
    progress.show(fmt::format("round {} of {}", round + 1, options.rounds));
    auto plan = options.plan;
    plan.seed += static_cast<std::uint64_t>(round);
    if (auto figures = by.offer(from, plan, signals)) {
      progress.show("");
      by.judge(*figures, fmt::format("round {}", round + 1));
      document.rounds.push_back(*std::move(figures));
    }
  }
}

/// Tries a rate. Nullopt if nothing more can be measured.
[[nodiscard]] std::optional<tried_rate> try_rate(double rate, std::size_t number, const source_options& options,
                                                 load_source& from, offering& by, bench::stop_signals& signals,
                                                 const answer_to& to) {
  auto plan = options.plan;
  plan.rate = rate;
  plan.seed += number;
  auto figures = by.offer(from, plan, signals);
  if (!figures || !by.can_go_on()) // A round that was cut short tells nothing about the rate.
    return std::nullopt;
  auto why_not = why_not_sustained(*figures, options.knee_limit);
  to.say(fmt::format("{}/s: {}: {}", bench::short_number(rate), why_not.empty() ? "sustained" : "not sustained",
                     line_of(*figures)));
  return tried_rate{rate, why_not.empty(), why_not, *std::move(figures)};
}

void search(load_document& document, const source_options& options, load_source& from, offering& by,
            bench::stop_signals& signals, const answer_to& to) {
  knee_search searched{options.plan.rate, rate_least, rate_most};
  found_knee found{.limit_ms = static_cast<double>(options.knee_limit.count()) / 1e6};
  auto is_repeated = false;
  for (auto rate = searched.next(); rate; rate = searched.next()) {
    auto tried = try_rate(*rate, found.tried.size(), options, from, by, signals, to);
    if (!tried)
      break;
    found.tried.push_back(*std::move(tried));
    const auto& last = found.tried.back();
    is_repeated = !last.is_sustained && !is_repeated; // Once more, as the machine may have been busy.
    if (!is_repeated)
      searched.take(last.is_sustained);
  }
  found.last_good = searched.last_good();
  found.first_bad = searched.first_bad();
  if (by.can_go_on() && found.first_bad && !found.last_good)
    to.fail(fmt::format("not even {}/s is sustained", rate_least));
  for (const auto& each : found.tried)
    if (found.first_bad && each.rate == *found.first_bad)
      by.judge(each.figures, bench::short_number(each.rate) + "/s");
  document.knee = std::move(found);
}

[[nodiscard]] std::int64_t milliseconds_since_1970() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

/// The exit status if no node opens or no link.
[[nodiscard]] int status_of_opening(const node_error& why) {
  return why.code() == node_errc::bad_address || why.code() == node_errc::bad_option ? bad_arguments : 1;
}

void quiet_log() {
  if (std::getenv("TROUPE_LOG") == nullptr)
    set_log_threshold(log_level::error); // The command itself reports what goes wrong.
}

void show(const load_document& document, bool is_json, const answer_to& to) {
  to.out << (is_json ? json_of(document) : printable(text_of(document)));
}

void write_files(const load_document& document, const std::string& hgrm_file, const std::string& svg_file,
                 const answer_to& to) {
  write(hgrm_file, hgrm_of(document), to);
  if (svg_file.empty())
    return;
  if (const auto svg = svg_of(document))
    write(svg_file, *svg, to);
  else
    to.fail(svg.error());
}

void offer_load(const load_arguments& asked, const bench_request& shared, const CLI::App& command,
                const answer_to& to) {
  const auto options = source_options_of(asked, shared, command);
  if (!options)
    return to.fail(options.error(), bad_arguments);
  warn_about_machine(to);
  quiet_log();
  bench::stop_signals signals; // Before the links, which start threads.
  const auto from = load_source::open(*options);
  if (!from)
    return to.fail(from.error().message(), status_of_opening(from.error()));
  load_document document{
      .machines = {machine_now()}, .began_ms = milliseconds_since_1970(), .what = setup_of(*options)};
  offering by{*options, asked.is_late_allowed, to};
  if (options->finds_knee)
    search(document, *options, **from, by, signals, to);
  else
    measure_rounds(document, *options, **from, by, signals);
  if (!document.knee && document.rounds.empty())
    return to.fail("nothing was measured", to.status == 0 ? 1 : to.status);
  show(document, shared.is_json, to);
  if (!document.knee)
    write_files(document, asked.hgrm_file, shared.svg_file, to);
}

[[nodiscard]] std::string totals_text(const sink_account& account, bool is_json) {
  if (is_json)
    return nlohmann::ordered_json{
               {"requests", account.requests()}, {"messages", account.messages()}, {"payload_bytes", account.bytes()}}
               .dump()
           + '\n';
  return fmt::format("served {} and {}, {} of payload\n", several(account.requests(), "request"),
                     several(account.messages(), "one-way message"), text_of_size(account.bytes()));
}

/// Without --families, a sink that only processes of the same user reach serves all families: such a process can do
/// anyway what a hostile payload could. Others are offered the families that are safe against hostile input.
[[nodiscard]] std::vector<std::string> served_families(const load_arguments& asked, const CLI::App& command) {
  const auto is_local = [](const std::string& address) {
    return address.starts_with("unix://") || address.starts_with("shm://");
  };
  return command.count("--families") == 0 && std::ranges::all_of(asked.serve, is_local) ? families_built()
                                                                                        : asked.families;
}

void serve_load(const load_arguments& asked, const bench_request& shared, const CLI::App& command,
                const answer_to& to) {
  if (const auto wrong = wrong_with(asked, shared, command); !wrong.empty())
    return to.fail(wrong, bad_arguments);
  const auto stalls = asked.stall.empty() ? std::expected<stall, std::string>{} : stall::read(asked.stall);
  if (!stalls)
    return to.fail("--stall: " + stalls.error(), bad_arguments);
  quiet_log();
  bench::stop_signals signals; // Before the node, which starts threads.
  const auto sink = load_sink::open({.addresses = asked.serve,
                                     .families = served_families(asked, command),
                                     .stalls = *stalls,
                                     .access = access_of(asked, shared)});
  if (!sink)
    return to.fail(sink.error().message(), status_of_opening(sink.error()));
  const auto addresses = (*sink)->addresses();
  if (shared.is_json)
    to.out << nlohmann::ordered_json{{"listening", addresses}}.dump() << '\n';
  else
    for (const auto& each : addresses)
      to.out << printable("listening at " + each) << '\n';
  to.out << std::flush;
  while (signals.came() == 0) {
    pollfd waited{.fd = signals.fd(), .events = POLLIN, .revents = 0};
    ::poll(&waited, 1, -1);
  }
  to.out << totals_text((*sink)->account(), shared.is_json);
}

struct merge_arguments {
  std::vector<std::string> files;
  bool is_json = false;
  std::string hgrm_file;
  std::string svg_file;
};

void warn_about_sources(const std::vector<load_document>& all, const answer_to& to) {
  const auto [first, last] = std::ranges::minmax(all, {}, &load_document::began_ms);
  constexpr double apart_part = 0.1;
  const auto apart_seconds = static_cast<double>(last.began_ms - first.began_ms) / 1e3;
  if (apart_seconds > apart_part * all.front().what.seconds)
    to.say(
        fmt::format("the sources began {:.1f} s apart, so they have not offered their load together", apart_seconds));
  std::set<std::uint64_t> seeds;
  for (const auto& each : all)
    if (!seeds.insert(each.what.seed).second && each.what.arrivals == "poisson")
      return to.say("several sources have the same seed, so their requests come at the same times; give each its own "
                    "(--seed)");
}

void merge_files(const merge_arguments& asked, const answer_to& to) {
  std::vector<load_document> all;
  for (const auto& file : asked.files) {
    const auto text = content_of(file, document_bytes_most);
    if (!text)
      return to.fail(text.error(), bad_arguments);
    auto read = read_load_document(*text, file);
    if (!read)
      return to.fail(read.error(), bad_arguments);
    if (read->rounds.empty())
      return to.fail(file + " has no rounds", bad_arguments);
    all.push_back(*std::move(read));
  }
  warn_about_sources(all, to);
  auto sum = all.front();
  for (std::size_t i = 1; i < all.size(); ++i)
    if (const auto merged = merge(sum, all[i]); !merged)
      return to.fail(fmt::format("{} and {}: {}", asked.files.front(), asked.files[i], merged.error()), bad_arguments);
  show(sum, asked.is_json, to);
  write_files(sum, asked.hgrm_file, asked.svg_file, to);
}

void add_sink_options(CLI::App& command, load_arguments& asked, CLI::Option* serve) {
  command
      .add_option("--families", asked.families,
                  "With --serve: the families that sources may use (default: all at unix sockets, otherwise "
                      + CLI::detail::join(asked.families, ",")
                      + "), separated by commas, of: " + CLI::detail::join(families_built(), ", "))
      ->delimiter(',')
      ->check(is_one_of(families_built()))
      ->option_text("KEY")
      ->needs(serve);
  command
      .add_option("--stall", asked.stall,
                  "With --serve: handles nothing for 100 ms each second if it is 100ms/1s; to try the generator")
      ->option_text("TIME/TIME")
      ->needs(serve);
}

void add_pace(CLI::App& command, load_arguments& asked, CLI::Option* to) {
  command.add_option("--rate", asked.rate, "With --to: requests per second, over all connections (default 1k)")
      ->option_text("RATE")
      ->needs(to);
  command
      .add_option("--arrivals", asked.arrivals,
                  "With --to: how the intended starts are spread (default poisson), one of: poisson, uniform")
      ->check(is_one_of({"poisson", "uniform"}))
      ->option_text("KEY")
      ->needs(to);
  command.add_option("--seconds", asked.seconds, "With --to: measured time of each round (default 10; --find-knee: 3)")
      ->check(is_within(0.01, 86'400))
      ->needs(to);
  command.add_option("--warm-up", asked.warm_up_seconds, "With --to: seconds of load before the measured time")
      ->check(is_within(0, 3'600))
      ->capture_default_str()
      ->needs(to);
  command.add_option("--seed", asked.seed, "With --to: of the random arrivals and sizes; give each source its own")
      ->check(is_whole_within(0, std::numeric_limits<std::uint64_t>::max() / 2))
      ->capture_default_str()
      ->needs(to);
}

void add_source_options(CLI::App& command, load_arguments& asked, CLI::Option* to) {
  add_pace(command, asked, to);
  command.add_option("--connections", asked.connections, "With --to: links to each address")
      ->check(is_whole_within(1, 1'000))
      ->capture_default_str()
      ->needs(to);
  command
      .add_option("--outstanding", asked.outstanding,
                  "With --to: maximum number of unanswered requests; at this bound, further ones wait, and their "
                  "latency counts from their intended start")
      ->check(is_whole_within(1, 10'000'000))
      ->capture_default_str()
      ->needs(to);
  command.add_option("--sizes", asked.sizes_file, "With --to: payload sizes from this file, lines of: SIZE WEIGHT")
      ->option_text("FILE")
      ->needs(to)
      ->excludes(command.get_option("--size"));
  command
      .add_flag("--allow-late", asked.is_late_allowed,
                "With --to: succeeds even if the generator could not keep the schedule")
      ->needs(to);
  auto* const knee = command.add_flag("--find-knee", asked.finds_knee,
                                      "With --to: searches for the highest rate that the peers sustain");
  knee->needs(to)->excludes(command.get_option("--svg"))->excludes(command.get_option("--rounds"));
  command.add_option("--limit", asked.limit, "With --find-knee: p99 has to be below this time (default 10ms)")
      ->option_text("TIME")
      ->needs(knee);
  command.add_option("--hgrm", asked.hgrm_file, "With --to: also writes the latencies as HdrHistogram does")
      ->option_text("FILE")
      ->needs(to)
      ->excludes(knee);
}

} // namespace

void add_load_options(CLI::App& command, load_arguments& asked) {
  auto* const serve = command.add_option("--serve", asked.serve,
                                         "Serves at this address as a sink, until SIGINT or SIGTERM: answers requests, "
                                         "takes one-way messages; repeatable");
  auto* const to = command.add_option("--to", asked.to,
                                      "Offers load to the sink at this address, at a rate that does not depend on the "
                                      "answers; repeatable");
  for (auto* each : {serve, to})
    each->option_text("ADDRESS")->allow_extra_args(false);
  serve->excludes(to);
  for (const auto* name :
       {"--transport", "--spill", "--peers", "--in-flight", "--time", "--total", "--quick", "--csv", "--directory"})
    command.get_option(name)->excludes(serve)->excludes(to);
  for (const auto* name : {"--pattern", "--family", "--size", "--data", "--rounds", "--svg"})
    command.get_option(name)->excludes(serve);
  add_sink_options(command, asked, serve);
  add_source_options(command, asked, to);
  command.add_option("--io-threads", asked.io_threads, "With --to or --serve: threads that read and write the links")
      ->check(is_whole_within(1, 256))
      ->capture_default_str();
  command
      .add_option("--timeout", asked.timeout_seconds,
                  "With --to or --serve: seconds for making a link, and to wait for answers after the last request")
      ->check(is_within(0.001, 3'600.0))
      ->capture_default_str();
  add_credentials(command, asked.known_by);
}

void add_merge_command(CLI::App& command, const answer_to& to) {
  auto asked = std::make_shared<merge_arguments>();
  auto* const merging = command.add_subcommand(
      "merge", "Adds the JSON documents of several sources that have offered load at the same time");
  merging->add_option("files", asked->files, "The documents")->required()->option_text("FILE");
  merging->add_flag("--json", asked->is_json, "One JSON document instead of text");
  merging->add_option("--hgrm", asked->hgrm_file, "Also writes the latencies as HdrHistogram does")
      ->option_text("FILE");
  merging->add_option("--svg", asked->svg_file, "Also draws a chart of the latencies into this file, by gnuplot")
      ->option_text("FILE");
  merging->callback([asked, to] { merge_files(*asked, to); });
}

void run_load(const load_arguments& asked, const bench_request& shared, const CLI::App& command, const answer_to& to) {
  if (asked.serve.empty())
    offer_load(asked, shared, command, to);
  else
    serve_load(asked, shared, command, to);
}

} // namespace troupe::tools
