#include <troupe/framework/internal/caf_port/actors/task_runner.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <caf/actor.hpp>
#include <caf/actor_system.hpp>
#include <caf/message.hpp>

#include <troupe/framework/internal/caf_port/actors/request_runner.hpp>
#include <troupe/framework/internal/caf_port/builtin_types.hpp>
#include <troupe/framework/internal/caf_port/decoded_message.hpp>
#include <troupe/framework/internal/words/text.hpp>
#include <troupe/framework/remote_call.hpp>
#include <troupe/serializers/internal/words/type_text.hpp>

namespace troupe::internal {

namespace {

std::string bracketed_types(std::span<const std::type_index> types) {
  std::string text = "(";
  for (const auto& type : types)
    text += (text.size() > 1 ? ", " : "") + detail::type_text(type);
  return text + ")";
}

/// The types of the elements after the call.
std::vector<std::type_index> argument_types(const caf::message& content) {
  std::vector<std::type_index> found;
  for (std::size_t i = 1; i < content.size(); ++i) {
    const auto* info = info_of(content.type(i));
    found.emplace_back(info != nullptr ? *info : typeid(void));
  }
  return found;
}

request_outcome run(const caf::message& content, const type_registry& types) {
  if (content.empty() || !content.match_element<task_call>(0))
    return failed(node_errc::unsupported, "the task runner of a link accepts only link::submit");
  const auto& name = content.get_as<task_call>(0).name;
  const auto function = types.find_function(name);
  if (!function)
    return failed(node_errc::not_found,
                  "no function '" + name + "' is registered here; add it with types.add_function");
  if (const auto given = argument_types(content); !std::ranges::equal(given, function->parameters()))
    return failed(node_errc::interface_mismatch, "'" + name + "' has the parameters "
                                                     + bracketed_types(function->parameters()) + " here, and was given "
                                                     + bracketed_types(given));
  const auto is_void = function->result() == typeid(void);
  const auto* result_type = is_void ? nullptr : types.find(function->result());
  if (!is_void && result_type == nullptr)
    return failed(node_errc::unserializable, "the result of '" + name + "', " + detail::type_text(function->result())
                                                 + ", has no alias here; add it with types.add<T>(\"alias\")");
  std::vector<const void*> arguments;
  for (std::size_t i = 1; i < content.size(); ++i)
    arguments.push_back(content.get(i));
  auto result = function->run(arguments);
  if (!result)
    return failed(node_errc::task_failed, "'" + name + "' failed: " + cut(result.error()));
  return is_void ? caf::message() : message_of(*result_type, *std::move(result));
}

} // namespace

caf::actor spawn_task_runner(caf::actor_system& system, const type_registry& types) {
  return spawn_request_runner(
      system, [&types](const caf::message& task, const caf::strong_actor_ptr&) { return run(task, types); });
}

} // namespace troupe::internal
