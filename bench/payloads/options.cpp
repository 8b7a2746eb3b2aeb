#include "payloads/options.hpp"

#include "harness/command_line.hpp"

namespace bench {

std::expected<payload_options, int> read_payload_options(int argument_count, const char* const* arguments,
                                                         const std::vector<std::string>& subjects) {
  payload_options read;
  command_line line{"Measures large values from one process to another, compared with the alternatives", "payloads"};
  line.add_rounds(read.rounds);
  line.add_number("--bytes", read.largest_bytes, CLI::Range(64 << 10, 256 << 20),
                  "Bytes of the largest value; sizes above it are left out", 1 << 20);
  line.add_number("--bytes-each", read.bytes_each, CLI::Range(std::size_t{1}, std::size_t{64} << 30),
                  "Approximate bytes that pass for each size in a round", 1 << 20);
  line.add_choice("--subjects", read.subjects, subjects);
  line.add_json(read.json_file);
  bool is_quick = false;
  line.add_quick(is_quick,
                 "One round, no value above 1 MiB: shows whether it works, not how fast it is; a test runs this");
  line.add_deadline(read.deadline, "Seconds after which a subject is abandoned if it has not finished a size");
  line.add_subject_process(read.serve, read.drive, read.address, subjects);
  if (const auto done = line.read(argument_count, arguments); !done)
    return std::unexpected{done.error()};
  if (is_quick)
    read.rounds = 1;
  return read;
}

} // namespace bench
