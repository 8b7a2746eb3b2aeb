#include "program.hpp"

#include <troupe/processes/listing.hpp>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <iterator>

namespace wordcount::tests {

namespace {

troupe::processes::process start(const std::filesystem::path& folder, const std::vector<std::string>& arguments) {
  troupe::processes::start_options options{.program = WORDCOUNT_PROGRAM,
                                           .words = {WORDCOUNT_PROGRAM},
                                           .input = troupe::processes::nothing{},
                                           .output = troupe::processes::file{folder / "stdout"},
                                           .errors = troupe::processes::file{folder / "stderr"},
                                           // Inherited by all processes that it starts, so that they are found even
                                           // after its death.
                                           .environment = {{"WORDCOUNT_TEST", folder.string()},
                                                           {"HOME", folder.string()},
                                                           {"XDG_RUNTIME_DIR", folder.string()}}};
  options.words.insert(options.words.end(), arguments.begin(), arguments.end());
  return troupe::processes::process::start(options).value();
}

} // namespace

program::program(const std::filesystem::path& folder, const std::vector<std::string>& arguments)
    : folder_(folder), process_(start(folder, arguments)) {}

program::~program() {
  for (const auto worker : workers())
    ::kill(worker, SIGKILL);
}

run_result program::wait() {
  return {process_.wait(), read_file(folder_ / "stdout"), errors()};
}

std::vector<pid_t> program::workers() const {
  auto found = troupe::processes::with_variable("WORDCOUNT_TEST=" + folder_.string());
  std::erase(found, process_.number());
  return found;
}

std::vector<std::string> program::store_files() const {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator{"/dev/shm"})
    if (entry.path().filename().string().find(".wordcount-" + std::to_string(process_.number()) + "-")
        != std::string::npos)
      found.push_back(entry.path().filename().string());
  return found;
}

std::string program::errors() const {
  return read_file(folder_ / "stderr");
}

bool is_stopped(pid_t process) {
  return troupe::processes::state_of(process) == 'T';
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

} // namespace wordcount::tests
