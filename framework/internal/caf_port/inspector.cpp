#include <troupe/framework/internal/caf_port/inspector.hpp>

#include <string>
#include <utility>

#include <caf/all.hpp>

#include <troupe/framework/internal/caf_port/request_runner.hpp>
#include <troupe/framework/message_types.hpp>

namespace troupe::internal {

namespace {

template <class Answer, class Query>
request_outcome answer(const std::function<std::expected<Answer, node_error>(const Query&)>& by, const Query& query,
                       const char* permission) {
  if (!by)
    return to_caf_error(
        {node_errc::not_allowed,
         std::string{"this node's end of the link does not allow to ask that; it must have "} + permission});
  auto known = by(query);
  if (!known)
    return to_caf_error(known.error());
  return caf::make_message(*std::move(known));
}

} // namespace

caf::actor spawn_inspector(caf::actor_system& system, inspection_answers answers) {
  return spawn_request_runner(system, [answers = std::move(answers)](const caf::message& request) -> request_outcome {
    if (request.size() == 1 && request.match_element<memory_query>(0))
      return answer(answers.memory, request.get_as<memory_query>(0), "allow_memory_summary");
    if (request.size() == 1 && request.match_element<report_query>(0))
      return answer(answers.report, request.get_as<report_query>(0), "allow_inspection");
    return to_caf_error(
        {node_errc::unsupported, "link::memory_summary and link::report are answered here, and nothing else"});
  });
}

} // namespace troupe::internal
