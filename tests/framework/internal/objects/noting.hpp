// Surroundings for tests of the exchange's core: a store without bytes, and interfaces that only record calls.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <troupe/framework/internal/handles/local_objects.hpp>
#include <troupe/framework/internal/objects/exchange_surroundings.hpp>

namespace troupe::tests {

namespace handles = internal::handles;

/// A store whose objects live as long as they are held.
class store_of_names final : public handles::local_objects {
public:
  static constexpr std::uint64_t number = 7;

  /// Makes an object with one hold, which the caller owns.
  store::object_id make(std::uint64_t size_bytes, std::vector<store::object_id> captured = {}) {
    const store::object_id made{number, ++last_, 1};
    objects_[made] = {size_bytes, 1, std::move(captured)};
    return made;
  }
  [[nodiscard]] std::uint64_t holds(const store::object_id& place) const {
    const auto found = objects_.find(place);
    return found != objects_.end() ? found->second.holds : 0;
  }

  void hold(const store::object_id& place) override { ++objects_.at(place).holds; }
  void drop(const store::object_id& place) override {
    if (--objects_.at(place).holds == 0)
      objects_.erase(place);
  }
  [[nodiscard]] std::uint64_t size_of(const store::object_id& place) const override {
    return objects_.at(place).size_bytes;
  }
  [[nodiscard]] std::vector<store::object_id> captured_by(const store::object_id& place) const override {
    return objects_.at(place).captured;
  }
  [[nodiscard]] handles::home_name home_of(const store::object_id& place) override { return {place, 99}; }
  [[nodiscard]] bool hold_at_home(const handles::home_name&, std::uint64_t) override { return false; }
  [[nodiscard]] bool hand_over(const store::object_id&, handles::link_number) override { return false; }
  [[nodiscard]] adoption adopt(const store::object_id&, handles::link_number) override { return adoption::absent; }

private:
  struct object {
    std::uint64_t size_bytes = 0;
    std::uint64_t holds = 0;
    std::vector<store::object_id> captured;
  };
  std::map<store::object_id, object> objects_;
  std::uint32_t last_ = 0;
};

/// Performs nothing and records each request.
struct noted_surroundings : internal::core_errands,
                            internal::room_maker,
                            internal::object_finisher,
                            internal::caller_answers {
  [[nodiscard]] internal::exchange_surroundings all() { return {*this, *this, *this, *this}; }

  void write_soon(internal::core_turn, handles::link_number link) override { to_write.insert(link); }
  void wake_at(internal::core_turn, handles::time_point when) override { wakes.push_back(when); }
  void dial(internal::core_turn, const handles::node_name& who) override { dialed.push_back(who); }
  void answer(internal::core_turn, internal::fetch_answer what) override { answers.push_back(std::move(what)); }
  void make(internal::core_turn, handles::room_id which, std::uint64_t size_bytes,
            const std::optional<handles::original>&) override {
    wanted.emplace_back(which, size_bytes);
  }
  void seal(internal::core_turn, handles::room_id which, std::vector<store::object_id> captured) override {
    sealed.emplace_back(which, std::move(captured));
  }
  void finish(internal::core_turn, handles::room_id which, handles::reference own,
              std::vector<store::object_id> captured) override {
    finished.emplace_back(which, own);
    sealed.emplace_back(which, std::move(captured));
  }
  void drop(internal::core_turn, handles::room_id which) override { dropped.push_back(which); }
  void room_is_left(internal::core_turn) override { ++rooms_left; }
  void forget(internal::core_turn, handles::reference own) override { forgotten.push_back(own); }

  std::set<handles::link_number> to_write;
  std::vector<handles::time_point> wakes;
  std::vector<handles::node_name> dialed;
  std::vector<internal::fetch_answer> answers;
  std::vector<std::pair<handles::room_id, std::uint64_t>> wanted; // Rooms and their sizes in bytes.
  std::vector<std::pair<handles::room_id, std::vector<store::object_id>>> sealed;
  std::vector<std::pair<handles::room_id, handles::reference>> finished;
  std::vector<handles::room_id> dropped;
  std::vector<handles::reference> forgotten;
  int rooms_left = 0;
};

} // namespace troupe::tests
