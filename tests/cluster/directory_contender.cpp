// Takes keys of a directory in a race with other processes: `directory_contender ADDRESS NAME ROUNDS`. It writes
// "ready", waits for a line, then tries to make the keys race/0, race/1, ... and writes how many it made.
#include <troupe/framework/cluster/directory.hpp>

#include <iostream>
#include <string>

namespace {

int fail(const troupe::directory_error& error) {
  std::cerr << "directory_contender: " << error.message() << '\n';
  return 1;
}

} // namespace

int main(int count, char** arguments) {
  if (count != 4) {
    std::cerr << "directory_contender ADDRESS NAME ROUNDS\n";
    return 2;
  }
  const auto opened = troupe::open_directory(arguments[1], {.timeout = std::chrono::seconds{20}});
  if (!opened)
    return fail(opened.error());
  std::cout << "ready" << std::endl;
  std::string line;
  std::getline(std::cin, line);
  int made = 0;
  for (int round = 0; round < std::stoi(arguments[3]); ++round) {
    const auto key = "race/" + std::to_string(round);
    const troupe::directory_condition is_absent{.key = key};
    const troupe::directory_write put{.key = key, .value = arguments[2]};
    const auto done = (*opened)->commit({&is_absent, 1}, {&put, 1});
    if (!done)
      return fail(done.error());
    made += done->is_applied ? 1 : 0;
  }
  std::cout << made << std::endl;
}
