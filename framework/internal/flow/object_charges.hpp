// What objects cost that several messages mention.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include <troupe/base/salted_hash.hpp>
#include <troupe/framework/internal/flow/consumption.hpp>
#include <troupe/store/object_id.hpp>

namespace troupe::internal {

/// The receiving half of handle_account.hpp: a message that mentions an object again shares in what the one before owes
/// for it, so that this is settled when the last of them has been consumed.
///
/// Threads: one; receipts are settled on any.
class object_charges {
public:
  /// What a message to `actor` owes: `charge` for `first`, which count from now on, and its part in what is owed for
  /// `again`; those that count no more, since the peer could not know yet, cost nothing. Empty where it owes nothing.
  [[nodiscard]] receipt share(std::uint64_t actor, receipt charge, const std::vector<store::object_id>& first,
                              const std::vector<store::object_id>& again);

  /// How many objects are known, some of which may be settled.
  [[nodiscard]] std::size_t size() const noexcept { return living_.size(); }

private:
  struct key {
    std::uint64_t actor = 0;
    store::object_id object;

    bool operator==(const key&) const = default;
  };
  struct key_hash {
    std::size_t operator()(const key& of) const {
      return std::hash<store::object_id>{}(of.object) ^ detail::salted_hash{}(of.actor);
    }
  };

  void forget_settled();

  std::unordered_map<key, std::weak_ptr<const receipt>, key_hash> living_;
  std::size_t forget_at_ = 64;
};

} // namespace troupe::internal
