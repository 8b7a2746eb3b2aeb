#include <troupe/framework/internal/threads/new_thread.hpp>

#include <string>
#include <system_error>
#include <utility>

#include <sys/resource.h>

#include <troupe/framework/internal/words/failing.hpp>

namespace troupe::internal {

namespace {

std::string processes_max() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NPROC, &limit) != 0)
    return "unknown";
  return limit.rlim_cur == RLIM_INFINITY ? "unlimited" : std::to_string(limit.rlim_cur);
}

} // namespace

std::expected<std::thread, node_error> new_thread(std::string_view whose, std::function<void()> what) {
  try {
    return std::thread{std::move(what)};
  } catch (const std::system_error& error) {
    return fail(node_errc::bad_option, std::string{whose} + ", and the system gives none: " + error.code().message()
                                           + "; raise the limit on threads: the user's (ulimit -u, RLIMIT_NPROC, is "
                                           + processes_max() + ") or the container's (pids.max)");
  }
}

} // namespace troupe::internal
