#include "store/options.hpp"

#include "harness/command_line.hpp"

namespace bench {

std::expected<store_options, int> read_store_options(int argument_count, const char* const* arguments,
                                                     const std::vector<std::string>& cases) {
  store_options read;
  command_line line{"Measures what the store costs, compared with the copying, locking and disk access that it cannot "
                    "avoid",
                    "store"};
  line.add_rounds(read.rounds);
  line.add_choice("--cases", read.cases, cases);
  line.app()
      .add_option("--spill-directory", read.spill_directory, "A directory on the disk that is measured")
      ->capture_default_str();
  line.add_json(read.json_file);
  bool is_quick = false;
  line.add_quick(is_quick, "One round with little data: shows whether it works, not how fast it is");
  line.add_floors(read.has_to_meet_limits);
  if (const auto done = line.read(argument_count, arguments); !done)
    return std::unexpected{done.error()};
  if (is_quick) {
    read.rounds = 1;
    read.shows_limits = read.has_to_meet_limits;
    read.large_bytes = {1 << 20};
    read.small_puts = 200;
    read.disk_bytes = 8 << 20;
    read.cold_bytes = 8 << 20;
    read.many_objects = 2'000;
  }
  return read;
}

} // namespace bench
