#include "tape/recording.hpp"

#include "arguments.hpp"
#include "nodes/client.hpp"
#include "text.hpp"

#include "harness/stop_signals.hpp"

#include <troupe/base/sizes.hpp>
#include <troupe/framework/remote_recording.hpp>

#include <CLI/CLI.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <ostream>
#include <string>

namespace troupe::tools {

namespace {

struct record_request {
  std::string address;
  double seconds = 0; // 0: until a signal.
  std::string compression = "lz4";
  access by;
  remote_recording_options how;
};

void record_node(record_request& asked, std::ostream& out, std::ostream& err, int& status) {
  const auto refuse = [&](const std::string& why) {
    err << reason_in_line("troupe: " + why) << '\n';
    status = 2;
  };
  bench::stop_signals signals; // Before threads are made, which inherit what is blocked.
  if (asked.seconds > 0)
    asked.how.time = std::chrono::milliseconds{static_cast<std::int64_t>(asked.seconds * 1000)};
  asked.how.to.compression = compression_named(asked.compression).value_or(compression::lz4); // CLI11 has checked it.
  asked.how.answer_timeout = asked.by.timeout();
  asked.how.is_enough = [&signals] { return signals.came() != 0; };
  client from{asked.by};
  auto to = from.connect(asked.address);
  if (!to)
    return refuse(asked.address + ": " + to.error().message());
  const auto report = record_peer(*to, asked.how);
  if (!report)
    return refuse(asked.address + ": " + report.error().message());
  out << several(report->messages, "message") << " recorded\n";
  if (report->dropped_messages > 0)
    out << several(report->dropped_messages, "message")
        << " missing: the node had no room for them until they were taken\n";
  if (report->refused > 0)
    out << several(report->refused, "record") << " refused\n";
  if (report->lost_messages > 0)
    out << several(report->lost_messages, "message") << " missing: they could not be written\n";
  if (!report->ended_early.empty())
    err << reason_in_line("troupe: the recording ended early: " + report->ended_early) << '\n';
  const auto is_whole = report->dropped_messages == 0 && report->lost_messages == 0;
  status = report->ended_early.empty() && is_whole ? 0 : 1;
}

} // namespace

void add_record_command(CLI::App& app, std::ostream& out, std::ostream& err, int& status) {
  auto asked = std::make_shared<record_request>();
  auto* records = app.add_subcommand("record", "Records the messages of another node's links on a tape, until "
                                               "SIGINT or SIGTERM. The node's link must allow it (allow_recording)");
  records->add_option("address", asked->address, "The address of the node")->required()->option_text("ADDRESS");
  auto* file = records->add_option("-o,--output", asked->how.to.file, "A new file for the tape")->option_text("FILE");
  auto* directory = records
                        ->add_option("--directory", asked->how.to.directory,
                                     "A directory for files that follow each other, of which 16 are kept")
                        ->option_text("DIR");
  file->excludes(directory);
  records->add_option("--actor", asked->how.actors, "Only messages from or to the actor of this name. Repeatable")
      ->option_text("NAME");
  records->add_option("--seconds", asked->seconds, "Ends after this time")
      ->check(is_within(0.001, 1e9))
      ->option_text("N");
  records->add_option("--file-bytes", asked->how.to.file_bytes, "The size of a file, at least 65536")
      ->check(is_whole_within(65'536, 1'000'000'000'000))
      ->option_text("N")
      ->capture_default_str();
  records->add_option("--compression", asked->compression, "Of the tape")
      ->check(is_one_of({"none", "lz4", "zstd", "automatic"}))
      ->option_text("KEY")
      ->capture_default_str();
  add_access(*records, asked->by);
  records->callback([asked, file, directory, &out, &err, &status] {
    if (file->count() + directory->count() == 0) {
      err << "troupe: record needs -o or --directory\n";
      status = 2;
      return;
    }
    record_node(*asked, out, err, status);
  });
}

} // namespace troupe::tools
