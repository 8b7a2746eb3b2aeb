// Attached to an actor that the peer of a link monitors.
#pragma once

#include <cstdint>
#include <memory>

#include <caf/attachable.hpp>

#include <troupe/framework/internal/link/link_core.hpp>

namespace troupe::internal {

class link_watch final : public caf::attachable {
public:
  static constexpr std::size_t token_type = 0x7472;

  /// Finds the attachables of one link again.
  struct key {
    const link_core* link;
    static constexpr std::size_t token_type = link_watch::token_type;
  };

  link_watch(const std::shared_ptr<link_core>& link, std::uint64_t number)
      : link_(link), identity_(link.get()), number_(number) {}

  void actor_exited(const caf::error& reason, caf::execution_unit*) override {
    if (auto link = link_.lock())
      link->watched_actor_ended(number_, reason);
  }

  bool matches(const token& what) override {
    return what.subtype == token_type && static_cast<const key*>(what.ptr)->link == identity_;
  }

private:
  std::weak_ptr<link_core> link_;
  const link_core* identity_;
  std::uint64_t number_;
};

} // namespace troupe::internal
