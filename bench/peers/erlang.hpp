// Erlang's distribution over TCP on the loopback interface: processes of two nodes, which are separate programs.
#pragma once

#include "peers/small_messages.hpp"

namespace bench {

[[nodiscard]] subject erlang_tcp();

} // namespace bench
