#include <troupe/framework/internal/workers/line_cutter.hpp>

namespace troupe::internal {

void line_cutter::take(std::string_view bytes, const receiver& receive) {
  while (!bytes.empty()) {
    const auto end = bytes.find('\n');
    const auto room = line_bytes_max - begun_.size();
    if (end > room && bytes.size() > room) { // The line is too long, wherever its end may be.
      begun_ += bytes.substr(0, room);
      bytes.remove_prefix(room);
      receive(begun_);
      begun_.clear();
      continue;
    }
    begun_ += bytes.substr(0, end);
    if (end == std::string_view::npos)
      return;
    bytes.remove_prefix(end + 1);
    if (begun_.ends_with('\r'))
      begun_.pop_back();
    receive(begun_);
    begun_.clear();
  }
}

void line_cutter::finish(const receiver& receive) {
  if (!begun_.empty())
    receive(begun_);
  begun_.clear();
}

} // namespace troupe::internal
