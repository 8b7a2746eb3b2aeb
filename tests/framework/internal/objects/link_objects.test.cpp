// The counts that the two ends of a link keep for the objects in their shared store.
#include <troupe/framework/internal/objects/flight_claims.hpp>
#include <troupe/framework/internal/objects/link_objects.hpp>

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace troupe::internal {
namespace {

using store::object_id;
using store::store_errc;

/// A store with one process at each end: the holds of objects, and the objects in flight to the far end.
struct tiny_store {
  std::map<object_id, int> held;
  std::map<object_id, int> in_flight;
  bool is_busy = false;

  [[nodiscard]] bool lives(const object_id& id) { return held[id] > 0 || in_flight[id] > 0; }
};

/// Holds one object of the store.
class hold {
public:
  hold() = default;
  hold(tiny_store& in, const object_id& id) : in_(&in), id_(id) { ++in_->held[id_]; }
  hold(const hold& other) : in_(other.in_), id_(other.id_) {
    if (in_ != nullptr)
      ++in_->held[id_];
  }
  hold(hold&& other) noexcept : in_(std::exchange(other.in_, nullptr)), id_(other.id_) {}
  hold& operator=(hold other) noexcept {
    std::swap(in_, other.in_);
    std::swap(id_, other.id_);
    return *this;
  }
  ~hold() {
    if (in_ != nullptr)
      --in_->held[id_];
  }

  [[nodiscard]] object_id id() const { return id_; }

private:
  tiny_store* in_ = nullptr;
  object_id id_;
};

class path final : public flight_path<hold> {
public:
  explicit path(tiny_store& in) : in_(in) {}

  [[nodiscard]] std::expected<void, store::store_error> hand_over(const hold& object) override {
    if (in_.is_busy)
      return std::unexpected{store::store_error{store_errc::busy, "busy"}};
    ++in_.in_flight[object.id()];
    return {};
  }
  void take_back(const hold& object) override { --in_.in_flight[object.id()]; }
  [[nodiscard]] std::expected<hold, store::store_error> adopt(const object_id& id) override {
    if (in_.is_busy)
      return std::unexpected{store::store_error{store_errc::busy, "busy"}};
    if (in_.in_flight[id] == 0)
      return std::unexpected{store::store_error{store_errc::not_found, "not in flight"}};
    hold result{in_, id};
    --in_.in_flight[id];
    return result;
  }
  [[nodiscard]] std::expected<void, store::store_error> abandon() override {
    in_.in_flight.clear();
    return {};
  }
  void release(const link_held& held, const object_id& id, std::uint64_t count) override {
    EXPECT_TRUE(held.is_held());
    released.emplace_back(id, count);
  }

  std::vector<std::pair<object_id, std::uint64_t>> released;

private:
  tiny_store& in_;
};

class both_ends : public testing::Test {
protected:
  /// One end of the link.
  struct end {
    explicit end(tiny_store& in) : way(in), objects(std::make_shared<link_objects<hold>>(mutex, way)) {
      objects->live_in(objects);
    }
    link_mutex mutex;
    path way;
    std::shared_ptr<link_objects<hold>> objects;
  };

  void send(const hold& object) {
    flight_claims<hold> claims;
    claims.begin(*near.objects);
    ASSERT_TRUE(claims.hand_over(object));
    const auto held = near.mutex.lock();
    claims.count(held);
    claims.commit(held);
  }
  [[nodiscard]] std::optional<hold> put() { return hold{in, first}; }

  const object_id first{1, 1, 1};
  tiny_store in;
  end near{in}, far{in};
};

TEST_F(both_ends, what_is_sent_is_held_for_the_peer_until_it_releases_it) {
  auto object = put();
  send(*object);
  object.reset();
  auto came = far.objects->adopt(first);
  ASSERT_TRUE(came);
  EXPECT_EQ(in.held[first], 2);
  came = nullptr;
  ASSERT_EQ(far.way.released.size(), 1u);
  EXPECT_TRUE(near.objects->on_release(first, far.way.released[0].second));
  EXPECT_FALSE(in.lives(first));
}

TEST_F(both_ends, what_is_sent_again_after_its_release_is_held_again) {
  auto object = put();
  send(*object);
  ASSERT_TRUE(near.objects->on_release(first, 1));
  EXPECT_EQ(in.held[first], 1);
  send(*object);
  EXPECT_EQ(in.held[first], 2);
  EXPECT_EQ(near.objects->find(near.mutex.lock(), first)->count, 1u);
}

TEST_F(both_ends, what_came_twice_has_one_owner_and_is_released_at_once) {
  auto object = put();
  send(*object);
  send(*object);
  auto came = far.objects->adopt(first);
  auto again = far.objects->adopt(first);
  EXPECT_EQ(*came, *again);
  came = nullptr;
  EXPECT_TRUE(far.way.released.empty());
  again = nullptr;
  ASSERT_EQ(far.way.released.size(), 1u);
  EXPECT_EQ(far.way.released[0].second, 2u);
}

TEST_F(both_ends, an_owner_that_ends_late_takes_nothing_of_a_newer_one_with_it) {
  auto object = put();
  send(*object);
  auto newer = far.objects->adopt(first);
  ASSERT_TRUE(newer);
  const came_over<hold> older{*object, {}};
  far.objects->gone(first, &older);
  EXPECT_TRUE(far.way.released.empty());
  newer = nullptr;
  ASSERT_EQ(far.way.released.size(), 1u);
  EXPECT_EQ(far.way.released[0].second, 1u);
}

TEST_F(both_ends, more_than_was_sent_cannot_be_released) {
  auto object = put();
  send(*object);
  EXPECT_EQ(near.objects->on_release(first, 2).error().code(), node_errc::protocol_violation);
  EXPECT_EQ(near.objects->on_release({1, 2, 1}, 1).error().code(), node_errc::protocol_violation);
}

TEST_F(both_ends, what_was_not_handed_over_cannot_be_had) {
  auto object = put();
  EXPECT_EQ(far.objects->adopt(first).error().code(), node_errc::protocol_violation);
  EXPECT_TRUE(far.objects->is_claimed());
}

TEST_F(both_ends, a_message_that_fails_takes_its_objects_back) {
  auto object = put();
  {
    flight_claims<hold> claims;
    claims.begin(*near.objects);
    ASSERT_TRUE(claims.hand_over(*object));
    claims.count(near.mutex.lock());
    ASSERT_TRUE(claims.hand_over(*object)); // Not counted.
    in.is_busy = true;
    EXPECT_FALSE(claims.hand_over(*object));
    EXPECT_EQ(in.in_flight[first], 2);
    EXPECT_EQ(claims.objects().size(), 2u);
  }
  object.reset();
  EXPECT_FALSE(in.lives(first));
  EXPECT_FALSE(near.objects->on_release(first, 1));
}

TEST_F(both_ends, a_store_that_was_busy_keeps_nothing_in_flight_once_it_is_not) {
  auto object = put();
  send(*object);
  object.reset();
  in.is_busy = true;
  EXPECT_EQ(far.objects->adopt(first).error().code(), node_errc::object_lost);
  ASSERT_EQ(far.way.released.size(), 1u); // The peer need not keep it.
  EXPECT_TRUE(near.objects->on_release(first, 1));
  far.objects->claim();
  EXPECT_FALSE(far.objects->is_claimed());
  EXPECT_TRUE(in.lives(first));
  in.is_busy = false;
  far.objects->claim();
  EXPECT_TRUE(far.objects->is_claimed());
  EXPECT_FALSE(in.lives(first));
  EXPECT_EQ(far.way.released.size(), 1u);
}

TEST_F(both_ends, a_peer_that_hands_over_without_end_while_the_store_is_busy_breaks_the_protocol) {
  in.is_busy = true;
  for (std::size_t i = 0; i < link_objects<hold>::unclaimed_max; ++i)
    ASSERT_EQ(far.objects->adopt(first).error().code(), node_errc::object_lost);
  EXPECT_EQ(far.objects->adopt(first).error().code(), node_errc::protocol_violation);
}

TEST_F(both_ends, after_the_end_nothing_is_kept_for_the_peer_and_what_came_stays) {
  auto object = put();
  send(*object);
  object.reset();
  auto came = far.objects->adopt(first);
  ASSERT_TRUE(came);
  (void)near.objects->end(near.mutex.lock());
  (void)far.objects->end(far.mutex.lock());
  EXPECT_TRUE(near.objects->abandon() && far.objects->abandon());
  EXPECT_EQ(in.held[first], 1);
  came = nullptr;
  EXPECT_TRUE(far.way.released.empty());
  EXPECT_FALSE(in.lives(first));
}

TEST_F(both_ends, what_came_may_outlive_the_link) {
  auto object = put();
  send(*object);
  auto came = far.objects->adopt(first);
  far.objects.reset();
  EXPECT_EQ((*came)->object().id(), first);
  came = nullptr;
  EXPECT_TRUE(far.way.released.empty());
}

} // namespace
} // namespace troupe::internal
