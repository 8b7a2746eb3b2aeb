#include <troupe/framework/internal/link/whereabouts_teller.hpp>

#include <cstddef>
#include <string>
#include <vector>

#include <troupe/framework/internal/link/link_host.hpp>
#include <troupe/framework/internal/words/failing.hpp>

namespace troupe::internal {

namespace {

// At this size the set is cleared. Then the peer is told of a few nodes again.
constexpr std::size_t told_nodes_max = 4096;

} // namespace

void whereabouts_teller::say_own() {
  if (!link_.agreed().features.has(feature::whereabouts) || !link_.agreed().counts_handles)
    return;
  auto told = tellable(node_.entrances.addresses(), true, place_, addresses_of_this_host());
  if (!told.empty())
    link_.admin.send(admin_op::whereabouts, whereabouts{node_.self.node, node_.self.incarnation, std::move(told)});
}

void whereabouts_teller::append(const link_held&, std::span<const handles::handle_descriptor> before, outbox& out) {
  const auto& agreed = link_.agreed();
  for (const auto& each : before) {
    if (!each.offer || !agreed.features.has(feature::whereabouts) || each.offer->exporter == agreed.peer.handles
        || told_.contains(each.offer->exporter))
      continue;
    const auto& who = each.offer->exporter;
    const auto known = node_.book->of(who);
    auto told = known ? tellable(known->addresses, known->is_on_this_host, place_, addresses_of_this_host())
                      : std::vector<std::string>{};
    if (told.empty())
      continue;
    if (told_.size() >= told_nodes_max)
      told_.clear();
    told_.insert(who);
    admin_output::append(out, admin_op::whereabouts, whereabouts{who.node, who.incarnation, std::move(told)});
  }
}

std::expected<void, node_error> whereabouts_teller::on_whereabouts(const whereabouts& what) {
  if (what.addresses.size() > told_addresses_max)
    return violation("a node is said to listen at " + std::to_string(what.addresses.size()) + " addresses, limit "
                     + std::to_string(told_addresses_max));
  for (const auto& each : what.addresses)
    if (each.size() > told_address_bytes_max)
      return violation("an address where a node is said to listen has " + std::to_string(each.size()) + " bytes, limit "
                       + std::to_string(told_address_bytes_max));
  const handles::node_name who{what.node, what.incarnation};
  if (link_.agreed().counts_handles && who != node_.self)
    node_.book->learn(owner_.lock(), who, what.addresses);
  return {};
}

} // namespace troupe::internal
