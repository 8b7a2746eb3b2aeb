// Hand-over of objects through the store that both ends of a link share.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>

#include <troupe/framework/internal/link/admin_output.hpp>
#include <troupe/framework/internal/link/agreed_terms.hpp>
#include <troupe/framework/internal/net/link_mutex.hpp>
#include <troupe/framework/internal/objects/flight_path.hpp>
#include <troupe/store/handle.hpp>
#include <troupe/store/object_store.hpp>

namespace troupe::internal {

/// The two channels of one link in the shared store.
class link_flights final : public flight_path<store::handle> {
public:
  /// All must outlive this object.
  link_flights(const agreement& agreed, const std::optional<store::object_store>& store, admin_output& admin)
      : agreed_(agreed), store_(store), admin_(admin) {}

  [[nodiscard]] std::expected<void, store::store_error> hand_over(const store::handle& object) override;
  void take_back(const store::handle& object) override;
  [[nodiscard]] std::expected<store::handle, store::store_error> adopt(const store::object_id& id) override;
  [[nodiscard]] std::expected<void, store::store_error> abandon() override;
  void release(const link_held& held, const store::object_id& id, std::uint64_t count) override;

private:
  const agreement& agreed_;
  const std::optional<store::object_store>& store_;
  admin_output& admin_;
};

} // namespace troupe::internal
