#include "worker_process.hpp"

#include <chrono>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <thread>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace images {

using namespace std::chrono_literals;

worker_process::worker_process(const std::string& address) {
  std::string words[] = {"images", "work", address};
  char* const arguments[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
  if (const auto failed = ::posix_spawn(&process_, "/proc/self/exe", nullptr, nullptr, arguments, environ))
    throw std::runtime_error(std::string("a worker cannot be started: ") + std::strerror(failed));
}

worker_process::~worker_process() {
  const auto deadline = std::chrono::steady_clock::now() + 10s;
  while (::waitpid(process_, nullptr, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > deadline)
      ::kill(process_, SIGKILL);
    std::this_thread::sleep_for(5ms);
  }
}

} // namespace images
