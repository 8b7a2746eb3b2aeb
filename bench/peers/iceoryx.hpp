// Eclipse iceoryx: publish and subscribe by shared memory, which a daemon of this run's own (iox-roudi) gives out.
#pragma once

#include "peers/small_messages.hpp"

namespace bench {

/// Receivers look again and again whether something has come.
[[nodiscard]] subject iceoryx_polling();
/// Receivers sleep in a WaitSet.
[[nodiscard]] subject iceoryx_waitset();

} // namespace bench
