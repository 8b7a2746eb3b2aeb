// Eclipse iceoryx: publish and subscribe through shared memory, which a daemon of this run (iox-roudi) manages.
#pragma once

#include "peers/small_messages.hpp"

namespace bench {

/// Receivers poll.
[[nodiscard]] subject iceoryx_polling();
/// Receivers sleep in a WaitSet.
[[nodiscard]] subject iceoryx_waitset();

} // namespace bench
