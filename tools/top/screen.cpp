#include "top/screen.hpp"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>

namespace troupe::tools {

namespace {

std::atomic<bool> has_ended{false};
std::atomic<bool> is_resized{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void on_signal(int which) {
  (which == SIGWINCH ? is_resized : has_ended).store(true);
}

void watch_signals(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler; // Without SA_RESTART, so that signals interrupt waits.
  for (const auto which : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH})
    ::sigaction(which, &action, nullptr);
}

} // namespace

bool screen::is_possible() {
  return ::isatty(STDOUT_FILENO) == 1;
}

screen::size screen::size_now() {
  winsize known{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &known) != 0 || known.ws_col == 0 || known.ws_row == 0)
    return {};
  return {known.ws_col, known.ws_row};
}

screen::screen() {
  watch_signals(on_signal);
  termios mode{};
  if (::tcgetattr(STDIN_FILENO, &mode) == 0) {
    before_ = mode;
    mode.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    mode.c_cc[VMIN] = 0;
    mode.c_cc[VTIME] = 0;
    ::tcsetattr(STDIN_FILENO, TCSANOW, &mode);
  }
  write("\x1b[?1049h\x1b[?25l");
}

screen::~screen() {
  write("\x1b[?25h\x1b[?1049l");
  if (before_)
    ::tcsetattr(STDIN_FILENO, TCSANOW, &*before_);
  watch_signals(SIG_DFL);
}

void screen::show(const std::vector<std::string>& lines) {
  std::string text = "\x1b[H";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto stands_out = i == 0 || i + 1 == lines.size();
    text += (stands_out ? "\x1b[7m" : "") + lines[i] + (stands_out ? "\x1b[0m" : "") + "\x1b[K";
    if (i + 1 < lines.size())
      text += "\r\n";
  }
  write(text + "\x1b[J");
}

screen::happened screen::wait(std::chrono::milliseconds longest) {
  pollfd keys{.fd = before_ ? STDIN_FILENO : -1, .events = POLLIN, .revents = 0};
  if (!has_ended.load() && !is_resized.load())
    ::poll(&keys, 1, static_cast<int>(longest.count()));
  if (has_ended.load())
    return {event::ended, 0};
  if (is_resized.exchange(false))
    return {event::resized, 0};
  if ((keys.revents & (POLLIN | POLLHUP | POLLERR)) == 0)
    return {};
  char key = 0;
  if (::read(STDIN_FILENO, &key, 1) == 1)
    return {event::key, key};
  return {(keys.revents & (POLLHUP | POLLERR)) != 0 ? event::ended : event::none, 0};
}

void screen::write(std::string_view text) {
  while (!text.empty()) {
    const auto written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno != EINTR)
      return; // The terminal is gone, which wait() reports.
    if (written > 0)
      text.remove_prefix(static_cast<std::size_t>(written));
  }
}

} // namespace troupe::tools
