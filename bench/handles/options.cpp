#include "handles/options.hpp"

#include "harness/command_line.hpp"

namespace bench {

std::expected<handles_options, int> read_handles_options(int argument_count, const char* const* arguments,
                                                         const std::vector<std::string>& subjects) {
  handles_options read;
  command_line line{"Measures references to large values: sending, reading, fetching from another host, and passing on",
                    "handles"};
  line.add_rounds(read.rounds);
  line.add_number("--bytes", read.large_bytes, CLI::Range(1 << 20, 1 << 30), "Bytes of the largest value", 1 << 20);
  line.add_number("--requests", read.requests, CLI::Range(1, 1'000'000), "Number of requests of each kind", 10);
  line.add_number("--gets", read.gets, CLI::Range(1, 1'000'000), "Number of calls of get() in each run", 10);
  line.add_number("--pulls", read.pulls, CLI::Range(1, 10'000),
                  "Number of values of each size that are fetched from another host", 1);
  line.add_number("--hops", read.hops, CLI::Range(400, 10'000'000), "Number of hops of a reference around a ring", 800);
  line.add_choice("--subjects", read.subjects, subjects);
  line.add_json(read.json_file);
  bool is_quick = false;
  line.add_quick(is_quick,
                 "One round with values of at most 1 MiB, and 800 hops: shows whether it works, not how fast it is");
  line.add_floors(read.has_to_meet_limits);
  line.add_deadline(read.deadline, "Seconds after which a subject is abandoned if it has not finished a step");
  line.add_subject_process(read.serve, read.drive, read.address, subjects);
  line.add_hidden("--number", read.number);
  if (const auto done = line.read(argument_count, arguments); !done)
    return std::unexpected{done.error()};
  if (is_quick) {
    read.rounds = 1;
    read.shows_limits = read.has_to_meet_limits;
  }
  return read;
}

} // namespace bench
