// Numbers for attempts to make replicas.
#pragma once

#include <cstddef>
#include <map>
#include <optional>

#include <troupe/framework/internal/handles/actions.hpp>

namespace troupe::internal::handles {

/// Numbers the attempts to make replicas; no number is reused.
class room_numbers {
public:
  [[nodiscard]] room_id open(reference what) {
    rooms_.emplace(++last_, what);
    return last_;
  }
  void close(room_id room) { rooms_.erase(room); }
  /// The entry of that room; nullopt if it is closed.
  [[nodiscard]] std::optional<reference> find(room_id room) const {
    const auto known = rooms_.find(room);
    return known != rooms_.end() ? std::optional{known->second} : std::nullopt;
  }
  [[nodiscard]] std::size_t size() const noexcept { return rooms_.size(); }

private:
  std::map<room_id, reference> rooms_;
  room_id last_ = 0;
};

} // namespace troupe::internal::handles
