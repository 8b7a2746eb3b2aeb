// The objects that are named by messages that have come over a link and are not consumed yet.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include <troupe/framework/internal/flow/consumption.hpp>
#include <troupe/framework/internal/objects/named_object.hpp>

namespace troupe::internal {

/// Threads: any.
class pending_objects : public std::enable_shared_from_this<pending_objects> {
public:
  /// Lists the objects until the returned receipt is settled, which also settles `owed`. `keeps` is kept as long as the
  /// message lives.
  [[nodiscard]] receipt note(std::vector<named_object> objects, receipt owed, std::shared_ptr<const void> keeps);

  /// Lists each object once per message that names it. Objects that only messages keep may be released meanwhile.
  [[nodiscard]] std::vector<named_object> list() const;

private:
  class mark;
  struct noted {
    std::optional<store::object_id> stored;
    std::weak_ptr<object_source> source;
  };
  struct message {
    std::chrono::steady_clock::time_point since;
    std::vector<noted> objects;
  };

  mutable std::mutex mutex_; // Nothing is called while it is held.
  std::list<message> messages_;
};

} // namespace troupe::internal
