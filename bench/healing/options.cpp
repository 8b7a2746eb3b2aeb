#include "healing/options.hpp"

#include "harness/command_line.hpp"

namespace bench {

std::expected<healing_options, int> read_healing_options(int argument_count, const char* const* arguments,
                                                         const std::vector<std::string>& subjects) {
  healing_options read;
  command_line line{"Measures lasting handles, and how soon a supervised worker process is replaced", "healing"};
  line.add_rounds(read.rounds);
  line.add_number("--messages", read.messages, CLI::Range(1, 100'000'000), "Number of messages one way", 1'000);
  line.add_number("--requests", read.requests, CLI::Range(1, 10'000'000), "Number of requests, one after the other",
                  100);
  line.add_number("--handles", read.handles, CLI::Range(1, 1'000'000),
                  "Number of lasting handles whose memory is measured", 100);
  line.add_number("--deaths", read.deaths, CLI::Range(1, 10'000), "Number of times that the worker process is killed",
                  2);
  line.add_choice("--subjects", read.subjects, subjects);
  line.add_json(read.json_file);
  bool is_quick = false;
  line.add_quick(is_quick,
                 "One round with few messages, handles and deaths: shows whether it works, not how fast it is");
  line.add_floors(read.has_to_meet_limits);
  line.add_deadline(read.deadline, "Seconds after which a subject is abandoned if it has not finished a step");
  line.add_subject_process(read.serve, read.drive, read.address, subjects);
  if (const auto done = line.read(argument_count, arguments); !done)
    return std::unexpected{done.error()};
  if (is_quick) {
    read.rounds = 1;
    read.shows_limits = read.has_to_meet_limits;
  }
  return read;
}

} // namespace bench
