#include "bulk/options.hpp"

#include "harness/command_line.hpp"

namespace bench {

std::expected<bulk_options, int> read_bulk_options(int argument_count, const char* const* arguments,
                                                   const std::vector<std::string>& subjects) {
  bulk_options read;
  command_line line{"Measures large messages between two actors: beside small messages, compared with a plain socket, "
                    "and through a store",
                    "bulk"};
  line.add_rounds(read.rounds);
  line.add_number("--bulk-messages", read.bulk_messages, CLI::Range(1, 100'000), "Number of large messages of 16 MiB",
                  4);
  line.add_number("--round-trips", read.round_trips, CLI::Range(1, 10'000'000), "Number of round trips on an idle link",
                  100);
  line.add_number("--store-bytes", read.store_bytes, CLI::Range(64 << 10, 1 << 30),
                  "Bytes of the large value that is sent through the store", 1 << 20);
  line.add_choice("--subjects", read.subjects, subjects);
  line.add_json(read.json_file);
  bool is_quick = false;
  line.add_quick(
      is_quick,
      "One round with 4 large messages, and 1 MiB through the store: shows whether it works, not how fast it is");
  line.add_floors(read.has_to_meet_limits, "Status 1 if the limit is missed");
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
