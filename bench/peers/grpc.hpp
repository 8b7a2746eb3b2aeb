// gRPC over a unix socket: streams for small messages, a call for a large value.
#pragma once

#include "peers/small_messages.hpp"

namespace bench {

[[nodiscard]] subject grpc_unix();

} // namespace bench
