#include "ending.hpp"

#include <cstring>
#include <ostream>

#include <sys/wait.h>

namespace troupe::processes {

ending ending_of(int wait_status) {
  return WIFSIGNALED(wait_status) ? killed_by(WTERMSIG(wait_status)) : exited_with(WEXITSTATUS(wait_status));
}

std::string text_of(const ending& how) {
  if (how.exited)
    return "ended with status " + std::to_string(how.code);
  return "was killed by signal " + std::to_string(how.signal) + " (" + ::strsignal(how.signal) + ")";
}

std::ostream& operator<<(std::ostream& out, const ending& how) {
  return out << text_of(how);
}

} // namespace troupe::processes
