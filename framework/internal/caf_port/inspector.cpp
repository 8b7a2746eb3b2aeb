#include <troupe/framework/internal/caf_port/inspector.hpp>

#include <utility>

#include <caf/all.hpp>

#include <troupe/framework/internal/caf_port/request_runner.hpp>
#include <troupe/framework/message_types.hpp>

namespace troupe::internal {

caf::actor spawn_inspector(caf::actor_system& system,
                           std::function<std::expected<memory_summary, node_error>(const memory_query&)> survey) {
  return spawn_request_runner(system, [survey = std::move(survey)](const caf::message& request) -> request_outcome {
    if (request.size() != 1 || !request.match_element<memory_query>(0))
      return to_caf_error({node_errc::unsupported, "this node answers link::memory_summary here, and nothing else"});
    auto known = survey(request.get_as<memory_query>(0));
    if (!known)
      return to_caf_error(known.error());
    return caf::make_message(*std::move(known));
  });
}

} // namespace troupe::internal
