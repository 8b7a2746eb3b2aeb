// One process's holds on objects of its store, for the ledger.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include <troupe/framework/internal/handles/local_objects.hpp>
#include <troupe/framework/internal/objects/handle_counter.hpp>
#include <troupe/store/handle.hpp>
#include <troupe/store/object_store.hpp>

namespace troupe::internal {

/// Holds each object of the store as often as the ledger says.
///
/// Threads: one at a time. Locks the store's table briefly if a peer names objects in it.
class local_holds final : public handles::local_objects {
public:
  explicit local_holds(store::object_store store) : store_(std::move(store)) {}

  /// Holds `object` once more.
  void keep(store::handle object);
  /// An empty handle if the object is not held.
  [[nodiscard]] store::handle find(const store::object_id& place) const;
  [[nodiscard]] std::size_t size() const noexcept { return holds_.size(); }

  /// Allows handing objects over to the peer of that link, until close().
  void open(handles::link_number link, const exchange_channel& channel) { channels_.insert_or_assign(link, channel); }
  void close(handles::link_number link) { channels_.erase(link); }

  void hold(const store::object_id& place) override;
  void drop(const store::object_id& place) override;
  [[nodiscard]] std::uint64_t size_of(const store::object_id& place) const override;
  [[nodiscard]] std::vector<store::object_id> captured_by(const store::object_id& place) const override;
  [[nodiscard]] handles::home_name home_of(const store::object_id& place) override;
  [[nodiscard]] bool hold_at_home(const handles::home_name& which, std::uint64_t size_bytes) override;
  [[nodiscard]] bool hand_over(const store::object_id& place, handles::link_number link) override;
  [[nodiscard]] adoption adopt(const store::object_id& place, handles::link_number link) override;

private:
  struct held {
    store::handle object;
    std::uint64_t count = 0;
  };

  store::object_store store_;
  std::unordered_map<store::object_id, held> holds_;
  std::map<handles::link_number, exchange_channel> channels_;
};

} // namespace troupe::internal
