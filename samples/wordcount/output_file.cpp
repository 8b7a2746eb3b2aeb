#include "output_file.hpp"

#include "file_descriptor.hpp"
#include "folder_walk.hpp"
#include "stop_signals.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string_view>
#include <system_error>

namespace wordcount {

namespace {

constexpr std::size_t buffer_bytes = 1 << 20;

/// Returns true if everything was written; otherwise errno holds the reason.
bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const auto written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

bool write_words(int file, const word_totals& totals) {
  std::string buffer;
  for (const auto* entry : totals.most_frequent(totals.distinct().size())) {
    buffer.append(std::to_string(entry->count)).append(1, '\t').append(entry->word()).append(1, '\n');
    if (buffer.size() < buffer_bytes)
      continue;
    if (!write_all(file, buffer))
      return false;
    buffer.clear();
  }
  return write_all(file, buffer);
}

bool is_regular_or_absent(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode);
}

} // namespace

std::expected<void, std::string> write_output(const std::string& path, const word_totals& totals) {
  const auto failed = [&path](int error_number) {
    return std::unexpected{"cannot write " + printable(path) + ": " + std::generic_category().message(error_number)};
  };
  const auto is_renamed = is_regular_or_absent(path);
  const auto written_path = is_renamed ? path + ".part-" + std::to_string(::getpid()) : path;
  const auto flags = O_WRONLY | O_CLOEXEC | (is_renamed ? O_CREAT | O_EXCL : O_TRUNC);
  if (is_renamed)
    stop_signals::remove_when_ended(written_path);
  file_descriptor file{::open(written_path.c_str(), flags, 0666)};
  if (!file.is_open())
    return failed(errno);
  auto done = write_words(file.number(), totals);
  done = ::close(file.release()) == 0 && done; // Some file systems report only now that they are full.
  if (is_renamed)
    done = done && ::rename(written_path.c_str(), path.c_str()) == 0;
  const auto error_number = errno;
  if (!done && is_renamed)
    ::unlink(written_path.c_str());
  stop_signals::remove_when_ended({});
  if (done)
    return {};
  return failed(error_number);
}

} // namespace wordcount
