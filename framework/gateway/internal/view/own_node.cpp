#include <troupe/framework/gateway/internal/view/own_node.hpp>

#include <utility>

namespace troupe {

view_source::~view_source() = default;

std::vector<viewed_activity> view_source::activity(std::chrono::milliseconds) {
  return {};
}

namespace web {

view_snapshot own_node::look(std::chrono::milliseconds) {
  view_snapshot made;
  made.nodes.push_back({.key = key_, .address = {}, .problem = {}, .report = node_.report({})});
  return made;
}

memory_summary own_node::memory(std::chrono::milliseconds) {
  auto known = node_.memory_summary({.objects_max = 2'000});
  if (known)
    return *std::move(known);
  memory_summary failed;
  failed.processes.push_back({0, node_.report({.links = false}).name, {}, known.error().message()});
  return failed;
}

std::vector<viewed_activity> own_node::activity(std::chrono::milliseconds) {
  std::vector<viewed_activity> made;
  auto& told = made.emplace_back(viewed_activity{.key = key_, .now = node_.activity(after_), .problem = {}}).now;
  if (!told.letters.empty())
    after_.letters_after = told.letters.back().number;
  if (!told.spans.empty())
    after_.spans_after = told.spans.back().number;
  return made;
}

std::expected<void, node_error> own_node::act(const view_order& given, const std::string& by,
                                              std::chrono::milliseconds timeout) {
  if (given.node != key_)
    return std::unexpected{node_error{node_errc::not_found, "view: there is no node \"" + given.node + "\""}};
  return node_.order(given.order, "the token \"" + by + "\" of its view", timeout);
}

} // namespace web

} // namespace troupe
