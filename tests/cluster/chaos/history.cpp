#include "history.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

namespace troupe::tests {

namespace {

constexpr std::array<std::string_view, 13> kind_names{"ran",    "owns",    "acted", "accepted", "refused",
                                                      "made",   "handled", "saved", "asked",    "answered",
                                                      "failed", "told",    "left"};

std::string word_of(const std::string& text) {
  return text.empty() ? "-" : text;
}

std::int64_t nanoseconds_of(history_event::clock::time_point at) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(at.time_since_epoch()).count();
}

history_event::clock::time_point point_of(std::int64_t nanoseconds) {
  return history_event::clock::time_point{std::chrono::nanoseconds{nanoseconds}};
}

} // namespace

std::string to_line(const history_event& event) {
  auto text = event.text;
  std::ranges::replace(text, '\n', ' ');
  std::ostringstream line;
  line << kind_names.at(static_cast<std::size_t>(event.what)) << ' ' << nanoseconds_of(event.begun) << ' '
       << nanoseconds_of(event.at) << ' ' << word_of(event.name) << ' ' << event.fence << ' ' << event.number << ' '
       << (event.is_sure ? "sure" : "unsure") << ' ' << word_of(event.by) << ' ' << text;
  return line.str();
}

std::optional<history_event> event_in(std::string_view line) {
  std::istringstream in{std::string{line}};
  history_event event;
  std::string kind;
  std::string sure;
  std::int64_t begun = 0;
  std::int64_t at = 0;
  if (!(in >> kind >> begun >> at >> event.name >> event.fence >> event.number >> sure >> event.by))
    return std::nullopt;
  const auto found = std::ranges::find(kind_names, kind);
  if (found == kind_names.end() || (sure != "sure" && sure != "unsure") || in.get() != ' ')
    return std::nullopt;
  event.what = static_cast<history_event::kind>(std::distance(kind_names.begin(), found));
  event.begun = point_of(begun);
  event.at = point_of(at);
  event.is_sure = sure == "sure";
  for (auto* const word : {&event.name, &event.by})
    if (*word == "-")
      word->clear();
  std::getline(in, event.text);
  return event;
}

const history& history_reader::read() {
  std::ifstream in{file_, std::ios::binary};
  in.seekg(next_);
  const std::string all{std::istreambuf_iterator<char>{in}, {}};
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = all.find('\n', begin)) != std::string::npos; begin = end + 1) {
    const auto line = std::string_view{all}.substr(begin, end - begin);
    auto event = event_in(line);
    if (!event)
      throw std::runtime_error(file_.string() + " has the line " + std::string{line});
    read_.events.push_back(*std::move(event));
  }
  next_ += static_cast<std::streamoff>(begin);
  return read_;
}

history_writer::history_writer(const std::filesystem::path& file)
    : file_(::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)) {
  if (file_ < 0)
    throw std::system_error(errno, std::generic_category(), file.string());
}

history_writer::~history_writer() {
  ::close(file_);
}

void history_writer::write(history_event event) const {
  event.at = history_event::clock::now();
  if (event.begun == history_event::clock::time_point{})
    event.begun = event.at;
  const auto line = to_line(event) + '\n';
  if (::write(file_, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
    throw std::system_error(errno, std::generic_category(), "writing the history");
}

} // namespace troupe::tests
