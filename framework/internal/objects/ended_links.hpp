// Why links have ended, for the errors about objects that were lost with them.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <string>
#include <utility>

#include <troupe/framework/internal/handles/messages.hpp>

namespace troupe::internal {

/// Remembers why each of the last `links_max` links has ended, and with which peer.
class ended_links {
public:
  void add(handles::link_number link, std::string why) {
    if (!reasons_.emplace(link, std::move(why)).second)
      return;
    order_.push_back(link);
    if (order_.size() > links_max) {
      reasons_.erase(order_.front());
      order_.pop_front();
    }
  }

  /// Null if the reason is no longer known.
  [[nodiscard]] const std::string* find(handles::link_number link) const {
    const auto found = reasons_.find(link);
    return found != reasons_.end() ? &found->second : nullptr;
  }

  static constexpr std::size_t links_max = 256;

private:
  std::map<handles::link_number, std::string> reasons_;
  std::deque<handles::link_number> order_;
};

} // namespace troupe::internal
