// Makes a simulated host, or runs a program in one; see hosts.hpp.
//   system_host PARENT hold VISIBLE            prints "ready" or an error; is the host until its input ends
//   system_host PARENT enter PID PROGRAM ...   becomes PROGRAM in the host that PID holds
// Dies with PARENT, which must have started it.
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <stdexcept>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace {

void check(int result, const std::string& what) {
  if (result < 0)
    throw std::system_error(errno, std::generic_category(), what);
}

void die_with(pid_t parent) {
  check(::prctl(PR_SET_PDEATHSIG, SIGKILL), "prctl");
  if (::getppid() != parent) // The parent died before prctl().
    std::_Exit(1);
}

void mount_tmpfs(const char* at) {
  check(::mount("host", at, "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777"), std::string{"a tmpfs on "} + at);
}

/// Mounts a /tmp of the host's own. If the build tree is below /tmp, shows it at the same path: programs run from it.
void mount_temporary(const std::filesystem::path& visible) {
  const auto tree = ::open(visible.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  check(tree, visible);
  mount_tmpfs("/tmp");
  if (visible.string().starts_with("/tmp/")) {
    std::filesystem::create_directories(visible);
    const auto below = "/proc/self/fd/" + std::to_string(tree);
    check(::mount(below.c_str(), visible.c_str(), nullptr, MS_BIND, nullptr), "the build tree");
  }
  ::close(tree);
}

void bring_loopback_up() {
  const auto any = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  check(any, "a socket");
  ifreq request{};
  std::strcpy(request.ifr_name, "lo");
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  check(::ioctl(any, SIOCSIFFLAGS, &request), "the loopback device");
  ::close(any);
}

void hold(const std::filesystem::path& visible) {
  check(::unshare(CLONE_NEWNET | CLONE_NEWNS), "unshare");
  // Mounts made after this call are invisible outside.
  check(::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr), "private mounts");
  mount_tmpfs("/dev/shm");
  mount_temporary(visible);
  bring_loopback_up();
  std::cout << "ready" << std::endl;
  for (std::string line; std::getline(std::cin, line);)
    ;
}

void join(const std::string& holder, const char* which, int kind) {
  const auto path = "/proc/" + holder + "/ns/" + which;
  const auto space = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  check(space, path);
  check(::setns(space, kind), path);
  ::close(space);
}

void enter(const std::string& holder, char** program) {
  const auto before = std::filesystem::current_path();
  join(holder, "net", CLONE_NEWNET);
  join(holder, "mnt", CLONE_NEWNS);
  if (::chdir(before.c_str()) != 0)
    check(::chdir("/"), "the root");
  check(::execvp(*program, program), *program);
}

} // namespace

int main(int argument_count, char** arguments) try {
  const std::string mode = argument_count > 3 ? arguments[2] : "";
  if (mode != "hold" && (mode != "enter" || argument_count < 5)) {
    std::cerr << "usage: system_host PARENT (hold VISIBLE | enter PID PROGRAM ARGUMENTS...)\n";
    return 2;
  }
  die_with(std::atoi(arguments[1]));
  if (mode == "hold")
    hold(arguments[3]);
  else
    enter(arguments[3], arguments + 4);
} catch (const std::exception& failed) {
  std::cout << failed.what() << std::endl;
  return 1;
}
