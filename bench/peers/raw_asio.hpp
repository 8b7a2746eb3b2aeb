// The limit: no actors and no framework, a unix socket by Asio, and whatever is there is read and written at once.
#pragma once

#include "peers/small_messages.hpp"

namespace bench {

[[nodiscard]] subject raw_asio_unix();
/// The same from vectors of many structs.
[[nodiscard]] subject batches_raw_asio_unix();

} // namespace bench
