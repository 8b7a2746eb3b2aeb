// CAF's own way between processes: its io module, whose protocol is called BASP, over TCP on the loopback interface.
#pragma once

#include "peers/small_messages.hpp"

namespace bench {

[[nodiscard]] subject caf_basp();

} // namespace bench
