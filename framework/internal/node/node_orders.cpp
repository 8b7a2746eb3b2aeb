#include <troupe/framework/internal/node/node_orders.hpp>

#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <troupe/framework/internal/link/family_changes.hpp>
#include <troupe/framework/internal/link/node_link.hpp>
#include <troupe/framework/internal/node/node_core.hpp>
#include <troupe/framework/internal/objects/out_of_band.hpp>
#include <troupe/framework/internal/words/failing.hpp>
#include <troupe/framework/internal/words/log.hpp>
#include <troupe/framework/internal/words/text.hpp>
#include <troupe/serializers/compression.hpp>

namespace troupe::internal {

namespace {

using outcome = std::expected<void, node_error>;

std::expected<std::shared_ptr<node_link>, node_error> open_link(node_core& node, const node_order& order) {
  if (!order.object.empty())
    return bad_option("an order about a link has the object \"" + one_line(cut(order.object)) + '"');
  auto found = node.links().find(order.number);
  if (!found)
    return fail(node_errc::not_found,
                "node " + *node.options().name + " has no open link " + std::to_string(order.number));
  return found;
}

bool has_changes(const node_order& order) {
  return !order.serializers.empty() || !order.deserializers.empty() || !order.compression.empty();
}

std::expected<link_changes, node_error> changes_of(const node_order& order) {
  if (!has_changes(order))
    return bad_option("an order to reconfigure a link names no changes: serializers, deserializers or compression");
  link_changes changes;
  if (!order.serializers.empty())
    changes.serializers = order.serializers;
  if (!order.deserializers.empty())
    changes.deserializers = order.deserializers;
  if (!order.compression.empty()) {
    for (const auto each : {compression::none, compression::lz4, compression::zstd, compression::automatic})
      if (order.compression == to_string(each))
        changes.compression = each;
    if (!changes.compression)
      return bad_option("there is no compression \"" + one_line(cut(order.compression))
                        + "\"; known are none, lz4, zstd and automatic");
  }
  return changes;
}

outcome close_link(node_core& node, const node_order& order, std::string_view by) {
  if (has_changes(order))
    return bad_option("an order to close a link names changes of it");
  const auto link = open_link(node, order);
  if (!link)
    return std::unexpected{link.error()};
  (*link)->close("closed by an order of " + one_line(cut(by)), node.options().drain_timeout);
  return {};
}

outcome reconfigure_link(node_core& node, const node_order& order, std::chrono::milliseconds timeout) {
  const auto changes = changes_of(order);
  if (!changes)
    return std::unexpected{changes.error()};
  const auto link = open_link(node, order);
  if (!link)
    return std::unexpected{link.error()};
  return (*link)->changes().reconfigure(*changes, timeout);
}

outcome release_pin(node_core& node, const node_order& order) {
  if (order.number != 0 || has_changes(order))
    return bad_option("an order about an object names a link or changes of one");
  if (order.object.empty())
    return bad_option("an order to release an out-of-band pin names no object");
  if (!release_out_of_band(node.store() ? node.store()->number() : 0, order.object))
    return fail(node_errc::not_found, "node " + *node.options().name + " has no out-of-band pin of the object \""
                                          + one_line(cut(order.object)) + '"');
  return {};
}

outcome obeyed(node_core& node, const node_order& order, std::string_view by, std::chrono::milliseconds timeout) {
  switch (order.what) {
  case order_kind::close_link:
    return close_link(node, order, by);
  case order_kind::reconfigure_link:
    return reconfigure_link(node, order, timeout);
  case order_kind::release_out_of_band:
    return release_pin(node, order);
  case order_kind::none:
    return bad_option("the order does not say what is to be done");
  }
  return fail(node_errc::unsupported,
              "this version of Troupe does not know the order " + std::to_string(static_cast<unsigned>(order.what)));
}

std::string text_of(const node_order& order) {
  switch (order.what) {
  case order_kind::close_link:
    return "close link " + std::to_string(order.number);
  case order_kind::reconfigure_link:
    return "reconfigure link " + std::to_string(order.number);
  case order_kind::release_out_of_band:
    return "release the out-of-band pin of \"" + one_line(cut(order.object)) + '"';
  case order_kind::none:
    break;
  }
  return "an unknown order";
}

} // namespace

std::expected<order_receipt, node_error> carry_out(node_core& node, const node_order& order, std::string_view by,
                                                   std::chrono::milliseconds timeout) {
  const auto done = obeyed(node, order, by, timeout);
  log(log_level::info, "node " + *node.options().name + " was ordered by " + one_line(cut(by)) + ": " + text_of(order)
                           + (done ? "; done" : "; refused: " + done.error().message()));
  if (!done)
    return std::unexpected{done.error()};
  return order_receipt{.process = static_cast<std::uint32_t>(::getpid())};
}

} // namespace troupe::internal
