#include <troupe/framework/internal/words/line_limit.hpp>

#include <utility>

namespace troupe::internal {

bool line_limit::admit(clock::time_point now) {
  if (now >= ends_ && left_out_ == 0) {
    ends_ = now + period;
    lines_ = 0;
  }
  if (lines_ < lines_max_) {
    ++lines_;
    return true;
  }
  ++left_out_;
  return false;
}

std::uint64_t line_limit::settle() {
  ends_ = clock::time_point::min();
  return std::exchange(left_out_, 0);
}

} // namespace troupe::internal
