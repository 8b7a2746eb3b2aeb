// The limit: a unix socket with Asio, without actors or framework. All available bytes are read and written at once.
#pragma once

#include "peers/small_messages.hpp"

namespace bench {

[[nodiscard]] subject raw_asio_unix();
/// Like raw_asio_unix(), from vectors of many structs.
[[nodiscard]] subject batches_raw_asio_unix();

} // namespace bench
