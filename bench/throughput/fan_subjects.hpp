// Actors that stream to each other between several processes.
#pragma once

#include "peers/small_messages.hpp"

#include <string>

namespace bench {

/// One actor in each far process, which takes what all near ends stream; one actor for each near end, which streams to
/// all far ones, a message to each in turn. The counts that near_end::one_way is given are those of each such stream.
/// Over unix sockets.
[[nodiscard]] subject fan_subject(std::string name);

} // namespace bench
