// Counts the words below a folder with several processes. Start reading in README.md.
#include "job.hpp"
#include "options.hpp"
#include "worker.hpp"

#include <troupe/serializers/cereal/cereal_family.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <memory>

namespace {

/// If the program is started with a closed standard stream, opens /dev/null in its place, so that no socket gets the
/// descriptor of that stream.
void keep_standard_streams() {
  int opened = -1;
  do
    opened = ::open("/dev/null", O_RDWR);
  while (opened >= 0 && opened <= STDERR_FILENO);
  if (opened > STDERR_FILENO)
    ::close(opened);
}

} // namespace

int main(int argc, char** argv) {
  keep_standard_streams();
  troupe::family_set families; // Starts with typed, msgpack and json.
  families.add(std::make_unique<troupe::cereal_family>());
  const auto options = wordcount::read_options(argc, argv, families);
  if (!options)
    return options.error();
  return options->assignment ? wordcount::run_worker(*options, families) : wordcount::run_job(*options, families);
}
