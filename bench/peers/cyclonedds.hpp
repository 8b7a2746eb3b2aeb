// Eclipse Cyclone DDS: publish and subscribe without a server, by UDP on the loopback device. Reliable, with all
// samples kept.
#pragma once

#include "peers/small_messages.hpp"

namespace bench {

[[nodiscard]] subject cyclonedds_udp();

} // namespace bench
