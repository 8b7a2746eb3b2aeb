// A dead letter in a mailbox that reports when it is gone.
#pragma once

#include <memory>

#include <troupe/framework/dead_letter.hpp>
#include <troupe/framework/internal/caf_port/actor_pointers.hpp>

namespace troupe::internal {

/// Sends the letter to `whom`. `token` is released after the handler of the letter, or when the letter is dropped.
void send_counted(const caf::strong_actor_ptr& whom, dead_letter letter, std::shared_ptr<const void> token);

} // namespace troupe::internal
