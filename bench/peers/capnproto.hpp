// Cap'n Proto's RPC over a unix socket: a streaming method one way, a plain one for what is answered.
#pragma once

#include "peers/small_messages.hpp"

namespace bench {

/// What is under way one way is bounded by the library's own flow control, as its documentation recommends, and not by
/// acknowledgements.
[[nodiscard]] subject capnproto_unix();

} // namespace bench
