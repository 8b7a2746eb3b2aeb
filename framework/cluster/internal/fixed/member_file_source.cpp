#include <troupe/framework/cluster/internal/fixed/member_file_source.hpp>

#include <troupe/framework/cluster/internal/fixed/member_file.hpp>

#include <array>
#include <chrono>
#include <ctime>
#include <utility>

#include <sys/inotify.h>
#include <unistd.h>

namespace troupe::cluster_directories {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds pause{2'000};
constexpr milliseconds pause_without_file{500};
// A second write within one tick of the kernel's clock leaves the times of a file as they are.
constexpr milliseconds too_new{50};

std::int64_t ns_of(const timespec& time) {
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

std::int64_t now_ns() {
  auto now = timespec{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return ns_of(now);
}

} // namespace

member_file_source::member_file_source(std::string path)
    : path_(std::move(path)), inotify_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {}

member_file_source::~member_file_source() {
  if (inotify_ >= 0)
    ::close(inotify_);
}

/// Follows the file that is at the path now. To be called before the file is read, so that no change is missed.
void member_file_source::watch_file() {
  std::array<char, 4096> events;
  while (::read(inotify_, events.data(), events.size()) > 0)
    ;
  constexpr std::uint32_t changes = IN_CLOSE_WRITE | IN_ATTRIB | IN_MOVE_SELF | IN_DELETE_SELF;
  const auto watch = ::inotify_add_watch(inotify_, path_.c_str(), changes);
  if (watch != watch_ && watch_ >= 0)
    ::inotify_rm_watch(inotify_, watch_); // Fails if the file is gone, and the watch with it.
  watch_ = watch;
}

std::optional<member_file_source::stamp> member_file_source::stamp_of_file() const {
  struct stat status {};
  if (::stat(path_.c_str(), &status) != 0)
    return std::nullopt;
  return stamp{.device = status.st_dev,
               .inode = status.st_ino,
               .bytes = status.st_size,
               .written_ns = ns_of(status.st_mtim),
               .changed_ns = ns_of(status.st_ctim)};
}

member_source::finding member_file_source::look(int) {
  if (inotify_ >= 0)
    watch_file();
  const auto found = stamp_of_file();
  if (found && found == read_)
    return {.members = std::nullopt, .trouble = trouble_, .pause = pause};
  const auto is_settled = found && now_ns() - found->changed_ns > std::chrono::nanoseconds{too_new}.count();
  const auto text = read_member_file(path_);
  auto members = text ? read_members(*text, path_) : std::unexpected{text.error()};
  read_ = is_settled ? found : std::nullopt;
  if (!members) {
    trouble_ = members.error();
    return {.members = std::nullopt, .trouble = trouble_, .pause = is_settled ? pause : pause_without_file};
  }
  trouble_.reset();
  return {.members = *std::move(members), .trouble = std::nullopt, .pause = is_settled ? pause : too_new};
}

} // namespace troupe::cluster_directories
