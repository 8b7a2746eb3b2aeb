// One end of a link whose ends share a store. Runs the classes that real links use for this against a simulated store.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <utility>

#include <troupe/framework/internal/handles/messages.hpp>
#include <troupe/framework/internal/net/link_mutex.hpp>
#include <troupe/framework/internal/objects/flight_claims.hpp>
#include <troupe/framework/internal/objects/flight_path.hpp>
#include <troupe/framework/internal/objects/link_objects.hpp>

namespace troupe::simulation {

namespace handles = internal::handles;

class world;
class process_objects;

/// Holds one object for a process, as a store::handle does.
class model_handle {
public:
  model_handle() = default;
  /// Takes over an existing hold.
  model_handle(process_objects& of, const store::object_id& id) : of_(&of), id_(id) {}
  model_handle(const model_handle& other);
  model_handle(model_handle&& other) noexcept : of_(std::exchange(other.of_, nullptr)), id_(other.id_) {}
  model_handle& operator=(model_handle other) noexcept {
    std::swap(of_, other.of_);
    std::swap(id_, other.id_);
    return *this;
  }
  ~model_handle();

  [[nodiscard]] store::object_id id() const noexcept { return id_; }

private:
  process_objects* of_ = nullptr;
  store::object_id id_;
};

using came_over = internal::came_over<model_handle>;
using flight_claims = internal::flight_claims<model_handle>;

/// Tells the sender that `count` of the references it sent are no longer needed.
struct shared_release {
  store::object_id what;
  std::uint64_t count = 0;
};

/// A link's holds and flights in the store, at one end.
class shared_end final : private internal::flight_path<model_handle> {
public:
  shared_end(world& in, process_objects& of, std::size_t over, int end)
      : world_(in), of_(of), over_(over), end_(end), objects_(mutex_, *this) {}

  /// Requires: `self` is this.
  void live_in(const std::shared_ptr<shared_end>& self) { objects_.live_in(self); }

  [[nodiscard]] internal::link_objects<model_handle>& objects() { return objects_; }
  [[nodiscard]] internal::link_held lock() { return mutex_.lock(); }

private:
  [[nodiscard]] std::expected<void, store::store_error> hand_over(const model_handle& object) override;
  void take_back(const model_handle& object) override;
  [[nodiscard]] std::expected<model_handle, store::store_error> adopt(const store::object_id& id) override;
  [[nodiscard]] std::expected<void, store::store_error> abandon() override;
  void release(const internal::link_held& held, const store::object_id& id, std::uint64_t count) override;

  [[nodiscard]] handles::link_number number() const;

  world& world_;
  process_objects& of_;
  const std::size_t over_;
  const int end_;
  internal::link_mutex mutex_;
  internal::link_objects<model_handle> objects_;
};

} // namespace troupe::simulation
