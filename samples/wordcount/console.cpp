#include "console.hpp"

#include <unistd.h>

#include <cstdio>

namespace wordcount {

namespace {

constexpr auto erase_line = "\r\x1b[K";

} // namespace

console::console() : is_terminal_(::isatty(STDERR_FILENO) == 1) {}

void console::note(const std::string& text) {
  const std::lock_guard guard{mutex_};
  write((progress_.empty() ? "" : erase_line) + ("wordcount: " + text) + '\n' + progress_);
}

void console::progress(const std::string& text) {
  const std::lock_guard guard{mutex_};
  if (!is_terminal_ || text == progress_)
    return;
  write(erase_line + text);
  progress_ = text;
}

void console::write(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

} // namespace wordcount
