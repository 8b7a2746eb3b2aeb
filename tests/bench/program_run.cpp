#include "program_run.hpp"

#include "../eventually.hpp"

#include <troupe/processes/listing.hpp>

#include <signal.h>
#include <stdlib.h>

#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <utility>

#include <gmock/gmock.h>

namespace bench::tests {

namespace {

/// The files that a benchmark could have left in folders that all programs share; files of other programs come and go
/// meanwhile. iceoryx always uses /tmp, some of its files always with the same name.
std::set<std::string> files_elsewhere() {
  std::set<std::string> found;
  for (const auto* folder : {"/dev/shm", "/tmp"})
    for (const auto& entry : std::filesystem::directory_iterator{folder}) {
      const auto name = entry.path().filename().string();
      const auto is_in_tmp = std::string_view{folder} == "/tmp";
      if (is_in_tmp ? name.contains("troupe-bench-iceoryx") || name.contains("roudi")
                    : name.contains("bench") || name.contains("vader_segment") || name == "iceoryx_mgmt")
        found.insert(entry.path());
    }
  return found;
}

} // namespace

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

bool eventually(const std::function<bool()>& condition) {
  return troupe::tests::eventually(condition, std::chrono::seconds(30));
}

program_run::program_run(std::string program)
    : program_(std::move(program)), files_elsewhere_before_(files_elsewhere()) {
  auto name = (std::filesystem::temp_directory_path() / "bench-test-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr)
    throw std::runtime_error("cannot make " + name);
  folder_ = name;
  std::filesystem::create_directory(folder_ / "tmp");
}

program_run::~program_run() {
  for (const auto process : processes())
    ::kill(process, SIGKILL);
  process_.reset();
  std::filesystem::remove_all(folder_);
}

void program_run::start(const std::vector<std::string>& arguments) {
  const auto home = (folder_ / "tmp").string(); // So that leftovers there are noticed.
  troupe::processes::start_options options{
      .program = program_,
      .words = {program_},
      .input = troupe::processes::nothing{},
      .output = troupe::processes::file{folder_ / "output"},
      .errors = troupe::processes::file{folder_ / "errors"},
      // Inherited by all processes that the program starts, so that they are found even after its death.
      .environment = {{"TMPDIR", home}, {"HOME", home}, {"XDG_RUNTIME_DIR", home}}};
  options.words.insert(options.words.end(), arguments.begin(), arguments.end());
  process_ = troupe::processes::process::start(options).value();
}

ending program_run::end() {
  return process_->wait();
}

ending program_run::run(const std::vector<std::string>& arguments) {
  start(arguments);
  return end();
}

std::vector<pid_t> program_run::processes() const {
  auto found = troupe::processes::with_variable("TMPDIR=" + (folder_ / "tmp").string());
  std::erase_if(found, [this](pid_t each) { return process_ && each == process_->number(); });
  return found;
}

void program_run::expect_nothing_left() const {
  EXPECT_TRUE(eventually([this] { return processes().empty(); }));
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "tmp"));
  auto left = files_elsewhere();
  std::erase_if(left, [this](const auto& file) { return files_elsewhere_before_.contains(file); });
  // Files of other runs at the same time disappear with those runs.
  EXPECT_TRUE(eventually([&] {
    std::erase_if(left, [](const auto& file) { return !std::filesystem::exists(file); });
    return left.empty();
  })) << testing::PrintToString(left);
}

std::vector<pid_t> program_run::both_ends() const {
  std::vector<pid_t> found;
  EXPECT_TRUE(eventually([&] {
    found = processes();
    return found.size() == 2;
  }));
  return found;
}

std::vector<nlohmann::json> program_run::results(const std::string& benchmark) const {
  std::vector<nlohmann::json> found;
  std::istringstream lines{read_file(json())};
  for (std::string line; std::getline(lines, line);) {
    auto read = nlohmann::json::parse(line, nullptr, false);
    EXPECT_TRUE(read.is_object()) << line;
    if (!read.is_object() || read.contains("reason")) // Or a subject without results.
      continue;
    EXPECT_THAT(read, testing::SizeIs(8)) << line;
    EXPECT_EQ(read.value("bench", ""), benchmark);
    EXPECT_NE(read.value("case", ""), "");
    EXPECT_NE(read.value("subject", ""), "");
    EXPECT_NE(read.value("unit", ""), "");
    const auto is_difference = read.value("case", "").contains(" - ");
    if (!is_difference) { // A difference of two times may be smaller than a quick run's error.
      EXPECT_GT(read.value("min", 0.0), 0) << line;
    }
    EXPECT_LE(read.value("min", 1.0), read.value("median", 0.0)) << line;
    EXPECT_LE(read.value("median", 1.0), read.value("max", 0.0)) << line;
    found.push_back(std::move(read));
  }
  return found;
}

} // namespace bench::tests
