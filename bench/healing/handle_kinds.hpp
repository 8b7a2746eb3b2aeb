// The handles that are compared, and messages through them.
#pragma once

#include "peers/troupe_process.hpp"

#include <cstdint>
#include <expected>
#include <string>

#include <caf/actor.hpp>
#include <caf/behavior.hpp>
#include <caf/scoped_actor.hpp>

namespace bench {

enum class handle_kind : std::uint8_t {
  plain,            ///< By link::find.
  lasting,          ///< By node::lasting, with default options.
  lasting_repeating ///< By node::lasting with `repeat_idempotent`.
};

/// The name under which the far end publishes its actor.
inline constexpr const char* receiver_name = "receiving";

/// Takes a small message and does nothing with it; answers a number with the same number.
[[nodiscard]] caf::behavior receiving();

/// Returns a handle to the actor `receiver_name` at that address. The link has default options.
[[nodiscard]] std::expected<caf::actor, std::string> get_handle(troupe_process& process, handle_kind kind,
                                                                const std::string& address);

/// Sends `count` small messages and, after every `window` of them, a request. Returns when all have been handled.
void send_messages(const caf::scoped_actor& self, const caf::actor& to, std::uint64_t count, std::uint64_t window);

/// Sends `count` requests, and has at most `window` of them under way.
void send_requests(const caf::scoped_actor& self, const caf::actor& to, std::uint64_t count, std::uint64_t window);

} // namespace bench
