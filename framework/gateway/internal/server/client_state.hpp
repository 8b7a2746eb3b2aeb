// Whether a client is still there, while nothing is read from it.
#pragma once

#include <chrono>
#include <cstdint>

#include <troupe/framework/gateway/internal/server/boost_net.hpp>

namespace troupe::web {

enum class client_state : std::uint8_t {
  present,
  silenced, ///< The client sends nothing more. It may still read, or it has closed the connection.
  gone,     ///< The connection is broken.
};

/// What the system knows about the client, without reading or waiting.
[[nodiscard]] client_state look_at(net::ip::tcp::socket& socket);

/// The time between two looks.
inline constexpr std::chrono::milliseconds look_interval{500};

} // namespace troupe::web
