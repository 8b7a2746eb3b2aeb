#include <troupe/framework/gateway/internal/view/own_node.hpp>

#include <algorithm>
#include <utility>

namespace troupe {

view_source::~view_source() = default;

std::vector<viewed_activity> view_source::activity(std::chrono::milliseconds) {
  return {};
}

namespace web {

namespace {

constexpr auto own_key = "own";

std::unexpected<node_error> order_failed(node_errc code, std::string text) {
  return std::unexpected{node_error{code, "view: " + std::move(text)}};
}

} // namespace

view_snapshot own_node::look(std::chrono::milliseconds) {
  view_snapshot made;
  made.nodes.push_back({.key = own_key, .address = {}, .problem = {}, .report = node_.report({})});
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
  auto& told = made.emplace_back(viewed_activity{.key = own_key, .now = node_.activity(after_), .problem = {}}).now;
  if (!told.letters.empty())
    after_.letters_after = told.letters.back().number;
  if (!told.spans.empty())
    after_.spans_after = told.spans.back().number;
  return made;
}

std::expected<void, node_error> own_node::act(const view_order& given, const std::string&,
                                              std::chrono::milliseconds timeout) {
  const auto& order = given.order;
  if (given.node != own_key)
    return order_failed(node_errc::not_found, "there is no node \"" + given.node + "\"");
  if (order.what == order_kind::release_out_of_band)
    return order_failed(node_errc::unsupported, "only `troupe view` gives up out-of-band pins");
  auto links = node_.links();
  const auto found = std::ranges::find(links, order.number, &link::number);
  if (found == links.end())
    return order_failed(node_errc::not_found, "there is no link " + std::to_string(order.number));
  if (order.what == order_kind::close_link) {
    found->close();
    return {};
  }
  link_changes changes;
  if (!order.serializers.empty())
    changes.serializers = order.serializers;
  if (!order.deserializers.empty())
    changes.deserializers = order.deserializers;
  if (!order.compression.empty()) {
    changes.compression = compression_named(order.compression);
    if (!changes.compression)
      return order_failed(node_errc::bad_option, "there is no compression \"" + order.compression + "\"");
  }
  return found->reconfigure(changes, timeout);
}

} // namespace web

} // namespace troupe
