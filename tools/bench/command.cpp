#include "bench/command.hpp"

#include "bench/answer.hpp"
#include "bench/diff/command.hpp"
#include "bench/load/command.hpp"
#include "bench/participant.hpp"
#include "bench/report.hpp"
#include "bench/request.hpp"
#include "bench/running.hpp"
#include "bench/sample/command.hpp"
#include "bench/workspace.hpp"

#include "arguments.hpp"
#include "text.hpp"

#include "harness/plot.hpp"
#include "harness/steps.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <ostream>
#include <utility>

#include <unistd.h>

namespace troupe::tools {

namespace {

/// The measurement to serve or to drive.
struct part_request {
  std::string serve;
  std::string drive;
  std::string address;
};

/// Runs this process as a participant of a measurement that another `troupe bench` process makes. Never returns.
void take_part(const part_request& asked) {
  const auto what = measurement_of(asked.serve.empty() ? asked.drive : asked.serve);
  if (!what)
    std::_Exit(bad_arguments);
  const auto status = asked.serve.empty()
                          ? bench::drive_steps([&] { return connect_near_end(*what, asked.address); })
                          : bench::serve_steps([&](const auto& ready) { return serve_far_end(*what, ready); });
  std::_Exit(status);
}

/// The measurements to make. If the request is invalid, reports the reason and returns an empty plan.
[[nodiscard]] std::vector<measurement> checked_plan(bench_request& asked, const answer_to& to) {
  const auto refuse = [&](const std::string& why) {
    to.fail(why, bad_arguments);
    return std::vector<measurement>{};
  };
  auto plan = plan_of(asked);
  if (!plan)
    return refuse(plan.error());
  for (const auto& each : *plan)
    if (auto why = no_room_for(each, asked.directory); !why.empty())
      return refuse(why);
  if (auto fits = fit_into_total(asked, plan->size()); !fits)
    return refuse(fits.error());
  for (const auto& file : {asked.csv_file, asked.svg_file})
    if (!file.empty() && !can_write(file))
      return refuse(file + " cannot be written");
  if (const auto possible = asked.svg_file.empty() ? std::expected<void, std::string>{} : bench::can_draw(); !possible)
    return refuse("--svg: " + possible.error());
  return *std::move(plan);
}

void measure(bench_request asked, const answer_to& to) {
  if (asked.is_quick) {
    asked.rounds = 1;
    asked.seconds = std::min(asked.seconds, 0.05);
  }
  const auto plan = checked_plan(asked, to);
  if (plan.empty())
    return;
  warn_about_machine(to);
  if (::isatty(STDERR_FILENO) == 1)
    to.say(fmt::format("{} measurements, about {:.0f} s, or more if payloads are large or families are slow",
                       plan.size(), expected_seconds(asked, plan.size())));
  const auto results = run(asked, plan);
  if (!results)
    return to.fail(results.error());
  for (const auto& one : results->all)
    if (!one.failure.empty() && results->stopped_by == 0)
      to.fail(label_of(one.what) + ": " + one.failure);
  if (results->stopped_by != 0)
    to.fail(fmt::format("stopped by signal {} after {} of {} rounds; what was measured until then is shown",
                        results->stopped_by, results->rounds, asked.rounds),
            128 + results->stopped_by);
  else if (results->rounds < asked.rounds)
    to.say(fmt::format("--total: {} of {} rounds were made in {:g} s", results->rounds, asked.rounds,
                       asked.total_seconds));
  to.out << (asked.is_json ? json_of(*results) : printable(text_of(*results)));
  write(asked.csv_file, csv_of(*results), to);
  if (asked.svg_file.empty())
    return;
  if (const auto svg = svg_of(*results))
    write(asked.svg_file, *svg, to);
  else
    to.fail(svg.error());
}

template <class Names>
void add_choice(CLI::App& to, const std::string& name, std::vector<std::string>& chosen, const std::string& what,
                const Names& names) {
  const std::vector<std::string> all(names.begin(), names.end());
  const auto standard = CLI::detail::join(chosen, ",");
  to.add_option(name, chosen,
                what + " (default " + standard + "), separated by commas, of: " + CLI::detail::join(all, ", "))
      ->delimiter(',')
      ->check(is_one_of(all))
      ->option_text("KEY");
}

constexpr const char* examples =
    "Examples:\n"
    "  troupe bench                                     # streams and requests over a unix socket, half a minute\n"
    "  troupe bench --quick                             # shows whether it works, not how fast it is\n"
    "  troupe bench --size 8..1Gi --svg plot.svg        # throughput and latency by size, also as a chart\n"
    "  troupe bench --pattern echo --transport inproc,unix,tcp,tls --size 64\n"
    "  troupe bench --family typed,msgpack,json,cereal,caf --size 64,64Ki --csv families.csv\n"
    "  troupe bench --size 1Mi --spill never            # large payloads through the socket, not by handle\n"
    "  troupe bench --transport tcp --compression none,lz4,zstd --data records --size 1Mi\n"
    "  troupe bench --pattern fan-in,fan-out,ring --peers 8 --json\n"
    "  troupe bench --sample order.json --contract shop.contract --compression none,lz4 # which family suits my type?\n"
    "  troupe bench --serve tls://0.0.0.0:4000 --certificate b.pem --key b.key --secret-file s # on host b; on "
    "another:\n"
    "  troupe bench --to tls://b:4000 --authority ca.pem --secret-file s --rate 100k --arrivals poisson --seconds 30\n"
    "  troupe bench --to unix://@sink --rate 20k --rounds 10 --json > new.json\n"
    "  troupe bench --to unix://@sink --find-knee --limit 5ms\n"
    "  troupe bench diff old.json new.json --quantity p99 --allow 5%\n";

void add_what(CLI::App& to, bench_request& asked) {
  add_choice(to, "-p,--pattern", asked.patterns, "Patterns of messages", pattern_names);
  add_choice(to, "-t,--transport", asked.transports, "Transports of the links", transport_names);
  add_choice(to, "-f,--family", asked.families, "Families that encode the payloads", families_built());
  to.add_option("--size", asked.sizes,
                "Payload sizes from 8 to 1Gi bytes (default " + CLI::detail::join(asked.sizes, ",")
                    + "), separated by commas; in 8..1Mi each size is eight times the previous one")
      ->delimiter(',')
      ->option_text("SIZES");
  add_choice(to, "--compression", asked.compressions,
             "Compression of frames of at least 10,000 bytes, if the ends share no store", compression_names);
  to.add_option("--data", asked.data, "Content of the payloads (default noise), one of: noise, records")
      ->check(is_one_of({"noise", "records"}))
      ->option_text("KEY");
  to.add_option("--spill", asked.spill,
                "Over unix sockets, payloads of at least this size (default 64Ki) travel by handle through the store; "
                "\"never\": none does")
      ->option_text("SIZE");
  to.add_option("--peers", asked.peers, "Number of peer processes in fan-in, fan-out and ring")
      ->check(CLI::Range(2, 32))
      ->capture_default_str();
  to.add_option("--in-flight", asked.in_flight, "Number of outstanding requests in pipelined")
      ->check(CLI::Range(2, 10'000))
      ->capture_default_str();
}

void add_how(CLI::App& to, bench_request& asked) {
  to.add_option("-r,--rounds", asked.rounds, "Number of rounds; each round makes every measurement once")
      ->check(CLI::Range(1, 1'000))
      ->capture_default_str();
  to.add_option("--time", asked.seconds,
                "Seconds of each measurement in a round; the warm-up takes a quarter of this time in addition")
      ->check(CLI::Range(0.001, 600.0))
      ->capture_default_str();
  to.add_option(
        "--total", asked.total_seconds,
        "Maximum seconds of the whole run: shortens the measurements, and then makes fewer rounds, at least one")
      ->check(CLI::Range(1.0, 86'400.0));
  to.add_flag("--quick", asked.is_quick,
              "One round of 50 ms per measurement, to see that it works; the figures mean little");
  to.add_flag("--json", asked.is_json, "One JSON document instead of text");
  to.add_option("--csv", asked.csv_file, "Also writes one line per measurement to this file")->option_text("FILE");
  to.add_option("--svg", asked.svg_file,
                "Also draws charts of throughput and latency over size into this file, by gnuplot")
      ->option_text("FILE");
  to.add_option("--directory", asked.directory, "Directory of the run's stores during the run (default /dev/shm)")
      ->check(CLI::ExistingDirectory)
      ->option_text("DIR");
}

/// For processes that the command starts itself; hidden from the help.
void add_part_command(CLI::App& bench) {
  auto asked = std::make_shared<part_request>();
  auto* const command = bench.add_subcommand("take-part")->group("");
  command->add_option("--serve", asked->serve);
  command->add_option("--drive", asked->drive);
  command->add_option("--address", asked->address);
  command->callback([asked] { take_part(*asked); });
}

} // namespace

void add_bench_command(CLI::App& app, std::ostream& out, std::ostream& err, int& status) {
  auto asked = std::make_shared<bench_request>();
  auto load = std::make_shared<load_arguments>();
  auto sample = std::make_shared<sample_arguments>();
  const answer_to to{out, err, status};
  auto* const command = app.add_subcommand(
      "bench",
      "Measures messages per second and round-trip times on this machine, between processes that it starts: by "
      "pattern, transport, family and size. With --serve and --to it offers load at a given rate between hosts and "
      "measures latencies");
  add_what(*command, *asked);
  add_how(*command, *asked);
  add_load_options(*command, *load);
  add_sample_options(*command, *sample);
  add_diff_command(*command, to);
  add_merge_command(*command, to);
  add_part_command(*command);
  command->footer(examples);
  command->callback([asked, load, sample, command, to] {
    if (!command->get_subcommands().empty())
      return;
    if (sample->is_given() && load->is_given())
      to.fail("--sample compares within this process: without --serve and --to", bad_arguments);
    else if (sample->is_given())
      compare_sample(*sample, *asked, *command, to);
    else if (load->is_given())
      run_load(*load, *asked, *command, to);
    else
      measure(*asked, to);
  });
}

} // namespace troupe::tools
