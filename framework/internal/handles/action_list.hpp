// Collects the actions that a ledger wants.
#pragma once

#include <utility>
#include <vector>

#include <troupe/framework/internal/handles/actions.hpp>
#include <troupe/framework/internal/handles/messages.hpp>

namespace troupe::internal::handles {

/// Collects actions in order.
class action_list {
public:
  template <class Action>
  void want(Action what) { // Built in place: g++ 12 warns of moved variants.
    actions_.emplace_back(std::in_place_type<Action>, std::move(what));
  }
  void send(link_number link, message what) { want(send_message{link, std::move(what)}); }
  [[nodiscard]] std::vector<action> take() { return std::exchange(actions_, {}); }

private:
  std::vector<action> actions_;
};

} // namespace troupe::internal::handles
