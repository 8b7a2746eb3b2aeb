// The cost of objects that several messages mention.
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

/// The receiving half of handle_account.hpp. A message that mentions an object again shares the receipt of the earlier
/// message. So the receipt is settled when the last of these messages is consumed.
///
/// Threads: one; receipts are settled on any.
class object_charges {
public:
  /// Returns the receipt of a message to `actor`: `charge` for the objects in `first`, which count from now on, and a
  /// share in the receipts of the objects in `again`. Objects in `again` that no longer count cost nothing, because the
  /// peer could not know that yet. Empty if the message owes nothing.
  [[nodiscard]] receipt share(std::uint64_t actor, receipt charge, const std::vector<store::object_id>& first,
                              const std::vector<store::object_id>& again);

  /// The number of known objects, including some settled ones.
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
