// Records the conversations of this version: `compat_freeze FOLDER`. Prints the folder that it makes below FOLDER.
// CONTRIBUTING.md says when.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "cast.hpp"
#include "fresh_recording.hpp"

namespace {

using namespace troupe::tests::compat;

/// For example "0.1-protocol-1.2".
std::string name_of(const conversation& what) {
  return what.troupe.substr(0, what.troupe.rfind('.')) + "-protocol-" + what.protocol;
}

/// For example "typed" or "typed.lasting".
std::string file_of(const conversation& what) {
  return what.family + (what.subject == conversation{}.subject ? "" : '.' + what.subject);
}

void write(const std::filesystem::path& file, const std::string& text) {
  std::ofstream out{file};
  out << text;
  if (!out.flush())
    throw std::runtime_error("cannot write " + file.string());
}

} // namespace

int main(int argument_count, char** arguments) try {
  if (argument_count != 2) {
    std::cerr << "usage: compat_freeze FOLDER\n";
    return 2;
  }
  std::vector<conversation> all; // Nothing is written if one of them fails.
  for (const auto& about : subjects())
    for (const auto& family : families)
      all.push_back(record(about, family));
  const auto folder = std::filesystem::path{arguments[1]} / name_of(all[0]);
  if (!std::filesystem::create_directories(folder))
    throw std::runtime_error(folder.string() + " is there already, and a frozen version never changes");
  for (const auto& each : all)
    write(folder / (file_of(each) + ".conversation"), to_text(each));
  std::cout << folder.string() << '\n';
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
