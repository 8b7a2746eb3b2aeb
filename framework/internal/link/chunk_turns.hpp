// Large messages, and objects that the peer pulls, beside each other.
#pragma once

#include <troupe/framework/internal/net/link_mutex.hpp>

namespace troupe::internal {

class departures;
class link_in_exchange;
class outbox;

/// Lets chunks of messages and of pulled objects leave in turns.
///
/// Threads: the I/O thread, with the link's lock.
class chunk_turns {
public:
  /// Both outlive this.
  chunk_turns(departures& messages, link_in_exchange& objects) : messages_(messages), objects_(objects) {}

  /// The next chunk; false where none is left.
  bool append_next(const link_held& held, outbox& out);

private:
  departures& messages_;
  link_in_exchange& objects_;
  bool objects_are_next_ = false;
};

} // namespace troupe::internal
