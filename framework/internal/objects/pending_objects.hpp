// Which objects the messages name that have come over a link and are not consumed.
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
  /// Until the receipt that it gives is settled, which settles `owed`, the objects are listed. `keeps` is what the
  /// message needs as long as it lives.
  [[nodiscard]] receipt note(std::vector<named_object> objects, receipt owed, std::shared_ptr<const void> keeps);

  /// Each as often as messages name it. What the messages alone kept may go meanwhile.
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

  mutable std::mutex mutex_; // Under which nothing is called.
  std::list<message> messages_;
};

} // namespace troupe::internal
