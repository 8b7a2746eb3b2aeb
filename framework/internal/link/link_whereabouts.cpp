// What a link says of where nodes listen: this one, and those whose handles are passed on. What it hears of that:
// introductions.cpp.
#include <string>
#include <utility>
#include <vector>

#include <troupe/framework/internal/link/link_core.hpp>
#include <troupe/framework/internal/link/link_host.hpp>
#include <troupe/framework/internal/words/failing.hpp>

namespace troupe::internal {

namespace {

// Those of whom the peer is told again are few.
constexpr std::size_t told_nodes_max = 4096;

} // namespace

void link_core::say_whereabouts() {
  if (!agreed().features.has(feature::whereabouts) || !agreed().counts_handles || hides_names_)
    return;
  auto told = tellable(node_->entrances().addresses(), true, place(), addresses_of_this_host());
  const auto self = node_->exchange()->self();
  if (!told.empty())
    admin_.send(admin_op::whereabouts, whereabouts{self.node, self.incarnation, std::move(told)});
}

/// Of the nodes that offer what these are behind.
void link_core::append_whereabouts(const link_held&, std::span<const handles::handle_descriptor> before, outbox& out) {
  for (const auto& each : before) {
    if (!each.offer || !agreed().features.has(feature::whereabouts) || each.offer->exporter == agreed().peer.handles
        || introduced_nodes_.contains(each.offer->exporter))
      continue;
    const auto& who = each.offer->exporter;
    const auto known = node_->whereabouts().of(who);
    auto told = known ? tellable(known->addresses, known->is_on_this_host, place(), addresses_of_this_host())
                      : std::vector<std::string>{};
    if (told.empty())
      continue;
    if (introduced_nodes_.size() >= told_nodes_max)
      introduced_nodes_.clear();
    introduced_nodes_.insert(who);
    out.append_packet(packet_kind::admin, static_cast<std::uint8_t>(admin_op::whereabouts),
                      encode_admin(whereabouts{who.node, who.incarnation, std::move(told)}));
  }
}

std::expected<void, node_error> link_core::on_whereabouts(whereabouts what) {
  if (what.addresses.size() > told_addresses_max)
    return violation("a node is said to listen at " + std::to_string(what.addresses.size()) + " addresses, limit "
                     + std::to_string(told_addresses_max));
  for (const auto& each : what.addresses)
    if (each.size() > told_address_bytes_max)
      return violation("an address where a node is said to listen has " + std::to_string(each.size()) + " bytes, limit "
                       + std::to_string(told_address_bytes_max));
  const handles::node_name who{what.node, what.incarnation};
  if (agreed().counts_handles && who != node_->exchange()->self())
    node_->whereabouts().learn(shared_from_this(), who, std::move(what.addresses));
  return {};
}

} // namespace troupe::internal
