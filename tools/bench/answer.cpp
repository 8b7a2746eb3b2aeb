#include "bench/answer.hpp"

#include "bench/machine.hpp"

#include "text.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <unistd.h>

namespace troupe::tools {

void answer_to::say(const std::string& what) const {
  err << printable("troupe: " + what) << '\n' << std::flush;
}

void answer_to::fail(const std::string& why, int with) const {
  say(why);
  status = with;
}

bool can_write(const std::string& file) {
  const std::filesystem::path path{file};
  const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path{"."};
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored))
    return !std::filesystem::is_directory(path, ignored) && ::access(file.c_str(), W_OK) == 0;
  return ::access(folder.c_str(), W_OK) == 0;
}

void write(const std::string& file, const std::string& text, const answer_to& to) {
  if (file.empty())
    return;
  std::ofstream written{file, std::ios::binary};
  written << text;
  written.close();
  if (!written)
    to.fail(file + " cannot be written");
}

std::expected<std::string, std::string> content_of(const std::string& file, std::size_t bytes_most) {
  std::ifstream read{file, std::ios::binary};
  if (!read)
    return std::unexpected{fmt::format("{} cannot be read: {}", file, std::strerror(errno))};
  std::string text;
  std::string piece(std::size_t{1} << 16, '\0');
  do {
    read.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    text.append(piece, 0, static_cast<std::size_t>(read.gcount()));
  } while (read && text.size() <= bytes_most);
  if (read.bad())
    return std::unexpected{file + " cannot be read"};
  if (text.size() > bytes_most)
    return std::unexpected{fmt::format("{} is larger than {} bytes", file, bytes_most)};
  return text;
}

void warn_about_machine(const answer_to& to) {
  const auto where = machine_now();
  if (!is_optimized(where))
    to.say(fmt::format("this build is made for finding errors ({}), so its numbers mean nothing; build with "
                       "-DCMAKE_BUILD_TYPE=Release",
                       where.build));
  double load = 0;
  constexpr double busy = 0.5;
  if (::getloadavg(&load, 1) == 1 && load > busy)
    to.say(fmt::format("the load average is {:.1f}: other programs run on this machine and disturb the measurement",
                       load));
}

} // namespace troupe::tools
