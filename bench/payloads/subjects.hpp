// The subjects of the benchmark.
#pragma once

#include "peers/small_messages.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// Troupe over its sockets and through a store, the peers, and as limits a bare socket and copying. In the order of the
/// rounds and of the table.
[[nodiscard]] const std::vector<subject>& payload_subjects();

/// Null if no subject has that name.
[[nodiscard]] const subject* find_payload_subject(std::string_view name);

/// Whether the subject's processes need the store of this run.
[[nodiscard]] bool needs_store(std::string_view subject);

} // namespace bench
