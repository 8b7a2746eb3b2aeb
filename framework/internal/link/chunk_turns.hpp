// Lets large messages and objects that the peer pulls share the link.
#pragma once

#include <troupe/framework/internal/net/link_mutex.hpp>

namespace troupe::internal {

class departures;
class link_in_exchange;
class outbox;

/// Sends chunks of messages and of pulled objects in turns.
///
/// Threads: the I/O thread, with the link's lock held.
class chunk_turns {
public:
  /// Both must outlive this object.
  chunk_turns(departures& messages, link_in_exchange& objects) : messages_(messages), objects_(objects) {}

  /// Appends the next chunk. Returns false if none is left.
  bool append_next(const link_held& held, outbox& out);

private:
  departures& messages_;
  link_in_exchange& objects_;
  bool objects_are_next_ = false;
};

} // namespace troupe::internal
