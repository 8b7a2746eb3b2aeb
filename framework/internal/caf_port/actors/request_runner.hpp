// Actors that answer peers' requests to this node. Each request runs in a separate actor.
#pragma once

#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <caf/actor.hpp>
#include <caf/actor_system.hpp>
#include <caf/message.hpp>
#include <caf/result.hpp>

#include <troupe/framework/node_error.hpp>

namespace troupe::internal {

using request_outcome = caf::result<caf::message>;

/// Admits a request of that sender, or returns why not. The returned object is kept until the answer has been sent.
using request_admission =
    std::function<std::expected<std::shared_ptr<void>, node_error>(const caf::strong_actor_ptr& sender)>;

/// Returns the answer to a request of that sender.
using request_answer = std::function<request_outcome(const caf::message&, const caf::strong_actor_ptr& sender)>;

/// Calls `answer` with each request's content, on the system's scheduler, so that requests run concurrently and never
/// on the thread that brought them. Requests for which `blocks` returns true have a thread of their own. If there is an
/// `admit`, it is asked first. An exit message ends the actor; running requests continue.
[[nodiscard]] caf::actor spawn_request_runner(caf::actor_system& system, request_answer answer,
                                              request_admission admit = nullptr,
                                              std::function<bool(const caf::message&)> blocks = nullptr);

/// The error of a failed request, as its answer.
[[nodiscard]] inline caf::error failed(node_errc code, std::string text) {
  return to_caf_error({code, std::move(text)});
}

/// An actor that answers its first request with that error, and ends.
[[nodiscard]] caf::actor spawn_refusal(caf::actor_system& system, node_error reason);

} // namespace troupe::internal
