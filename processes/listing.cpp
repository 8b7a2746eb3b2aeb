#include "listing.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

#include "descriptor.hpp"

namespace troupe::processes {

namespace {

/// Contents of a file in the process's /proc folder; empty if the process has ended.
std::string text_of(pid_t process, std::string_view file) {
  const auto path = "/proc/" + std::to_string(process) + '/' + std::string{file};
  const descriptor opened{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  std::string text;
  std::array<char, 4096> some;
  for (ssize_t count = 0; opened && (count = ::read(opened.number(), some.data(), some.size())) > 0;)
    text.append(some.data(), static_cast<std::size_t>(count));
  return text;
}

/// Splits a file of zero-terminated texts.
std::vector<std::string> texts_of(pid_t process, std::string_view file) {
  const auto all = text_of(process, file);
  std::vector<std::string> found;
  for (std::size_t at = 0; at < all.size(); at += found.back().size() + 1)
    found.push_back(all.substr(at, all.find('\0', at) - at));
  return found;
}

struct status {
  char state = '\0';
  pid_t parent = 0;
};

status status_of(pid_t process) {
  const auto line = text_of(process, "stat");
  // "NUMBER (NAME) STATE PARENT ..."; NAME may contain any characters.
  const auto name_end = line.rfind(") ");
  if (name_end == std::string::npos || name_end + 4 >= line.size())
    return {};
  status found{.state = line[name_end + 2], .parent = 0};
  std::from_chars(line.data() + name_end + 4, line.data() + line.size(), found.parent);
  return found;
}

} // namespace

std::vector<pid_t> all_numbers() {
  std::vector<pid_t> found;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator{"/proc", ignored}) {
    const auto name = entry.path().filename().string();
    pid_t number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error == std::errc{} && end == name.data() + name.size())
      found.push_back(number);
  }
  return found;
}

char state_of(pid_t process) {
  return status_of(process).state;
}

std::vector<std::string> arguments_of(pid_t process) {
  return texts_of(process, "cmdline");
}

std::vector<std::string> environment_of(pid_t process) {
  return texts_of(process, "environ");
}

std::vector<pid_t> with_variable(std::string_view variable) {
  auto found = all_numbers();
  std::erase_if(found, [&](pid_t each) {
    return std::ranges::none_of(environment_of(each), [&](const auto& one) { return one == variable; });
  });
  return found;
}

std::vector<pid_t> with_argument(std::string_view part) {
  auto found = all_numbers();
  std::erase_if(found, [&](pid_t each) {
    return std::ranges::none_of(arguments_of(each), [&](const auto& one) { return one.contains(part); });
  });
  return found;
}

std::vector<pid_t> family_of(pid_t process) {
  std::map<pid_t, pid_t> parents;
  for (const auto each : all_numbers())
    parents[each] = status_of(each).parent;
  std::vector<pid_t> found;
  for (const auto& [each, parent] : parents) {
    auto ancestor = each;
    while (ancestor != process && parents.contains(ancestor))
      ancestor = parents.at(ancestor);
    if (ancestor == process)
      found.push_back(each);
  }
  return found;
}

} // namespace troupe::processes
