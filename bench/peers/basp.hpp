// CAF's own connection between processes: its io module, whose protocol is called BASP, over TCP on the loopback
// interface.
#pragma once

#include "peers/small_messages.hpp"

namespace bench {

/// With CAF's default scheduler policy, stealing, which is about twice as fast one way as sharing.
[[nodiscard]] subject caf_basp();

/// With the policy sharing, which Troupe also sets. Round trips take a third of the time.
[[nodiscard]] subject caf_basp_sharing();

/// Like caf_basp(), with many structs per message.
[[nodiscard]] subject batches_caf_basp();

} // namespace bench
