// Cap'n Proto's RPC over a unix socket: a streaming method one way, a plain method for answered messages.
#pragma once

#include "peers/small_messages.hpp"

namespace bench {

/// One way, the library's own flow control bounds the messages in flight, as its documentation recommends, instead of
/// acknowledgements.
[[nodiscard]] subject capnproto_unix();

} // namespace bench
