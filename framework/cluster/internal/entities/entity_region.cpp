#include <troupe/framework/cluster/internal/entities/entity_region.hpp>

#include <utility>

#include <caf/error.hpp>
#include <caf/system_messages.hpp>

#include <troupe/framework/cluster/internal/entities/shard_map.hpp>

namespace troupe::membership {

entity_region::entity_region(caf::actor_system& system, std::string kind, std::size_t shards, passer pass_on,
                             std::function<void(std::uint32_t)> ask_drained, std::shared_ptr<quiet_watch> late)
    : table_(std::make_shared<table>()),
      handle_(make_relay(system, [table = table_](relayed_message what) { table->take(std::move(what), false); })),
      early_handle_(
          make_relay(system, [table = table_](relayed_message what) { table->take(std::move(what), true); })) {
  table_->kind = std::move(kind);
  table_->pass_on = std::move(pass_on);
  table_->ask_drained = std::move(ask_drained);
  table_->late = std::move(late);
  table_->shards = std::vector<place>(shards);
}

std::shared_ptr<arrival_order> entity_region::order(std::uint32_t number) const {
  return table_->shards[number].order;
}

void entity_region::put(std::uint32_t number, std::shared_ptr<entity_shard> what) {
  auto& at = table_->shards[number];
  const std::lock_guard guard{at.mutex};
  at.opens = what != nullptr;
  at.asks_again = false;
  if (what && at.has_passed_on)
    at.order->count_hops(); // Messages that were passed on from here may come back.
  at.shard.swap(what);
}

void entity_region::remove(std::uint32_t number) {
  put(number, nullptr);
}

void entity_region::close() {
  for (std::uint32_t i = 0; i < table_->shards.size(); ++i)
    remove(i);
}

void entity_region::note_drained(std::uint32_t number) {
  std::shared_ptr<entity_shard> opened;
  {
    auto& at = table_->shards[number];
    const std::lock_guard guard{at.mutex};
    if (!at.opens)
      return;
    if (at.passing > 0) {
      at.asks_again = true;
      return;
    }
    at.opens = false;
    opened = at.shard;
  }
  opened->open();
}

void entity_region::table::take(relayed_message what, bool is_early) {
  auto to = address_of(what.content());
  if (!to)
    return std::move(what).fail({node_errc::bad_option, "the message has no entity's address"});
  const auto count = shards.size();
  const auto number = to->shard;
  if (number >= count || (!to->is_marker && shard_of(to->key, count) != number))
    return std::move(what).fail(
        {node_errc::bad_option, "the message is for shard " + std::to_string(number) + " of the kind " + kind
                                    + ", but its key belongs to another one: do both members use "
                                    + std::to_string(count) + " shards?"});
  // The link lets peers end actors only if its options allow it; with an address, the order has passed that check.
  if (const auto& content = what.content();
      content.size() == 1 + entity_address::elements
      && (content.match_element<caf::exit_msg>(0) || content.match_element<caf::down_msg>(0)
          || content.match_element<caf::error>(0)))
    return std::move(what).fail({node_errc::not_allowed, "a message to an entity is not an order to end"});
  auto& at = shards[number];
  std::shared_ptr<entity_shard> shard;
  {
    const std::lock_guard guard{at.mutex};
    shard = at.shard;
    if (!shard) {
      ++at.passing;
      at.has_passed_on = true;
    }
  }
  if (shard)
    return is_early ? shard->take_early(*std::move(to), std::move(what)) : shard->take(*std::move(to), std::move(what));
  late->note();
  if (!to->is_marker && at.order->is_late_to_pass(*to))
    std::move(what).fail({node_errc::child_lost, held_up_text(to->key, kind)});
  else if (++to->hops > entity_address::hops_max)
    std::move(what).fail({node_errc::no_child, "shard " + std::to_string(number) + " of the kind " + kind
                                                   + " has moved " + std::to_string(to->hops)
                                                   + " times while the message was on its way"});
  else
    pass_on(*std::move(to), std::move(what));
  end_passing(number);
}

void entity_region::table::end_passing(std::uint32_t number) {
  {
    auto& at = shards[number];
    const std::lock_guard guard{at.mutex};
    if (--at.passing > 0 || !std::exchange(at.asks_again, false))
      return;
  }
  ask_drained(number);
}

} // namespace troupe::membership
