// CAF's own way between processes: its io module, whose protocol is called BASP, over TCP on the loopback interface.
#pragma once

#include "peers/small_messages.hpp"

namespace bench {

/// Under CAF's default scheduler policy, stealing: as users get it, and about twice as fast one way.
[[nodiscard]] subject caf_basp();

/// Under the policy sharing, which Troupe sets too: round trips take a third of the time.
[[nodiscard]] subject caf_basp_sharing();

/// As caf_basp(), many structs to a message.
[[nodiscard]] subject batches_caf_basp();

} // namespace bench
