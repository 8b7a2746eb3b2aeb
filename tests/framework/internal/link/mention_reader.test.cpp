// The actors and objects that a peer's messages mention are found, if the peer may mention them.
#include <troupe/framework/internal/link/mention_reader.hpp>

#include <map>

#include <unistd.h>

#include <troupe/framework/internal/caf_port/asker.hpp>
#include <troupe/framework/internal/link/shared_store_objects.hpp>

#include "noted_exchange.hpp"

namespace troupe::internal {
namespace {

/// The objects that the peer has handed over to this process in the store.
class flights_here final : public flight_path<store::handle> {
public:
  std::expected<void, store::store_error> hand_over(const store::handle&) override { return {}; }
  void take_back(const store::handle&) override {}
  std::expected<store::handle, store::store_error> adopt(const store::object_id& id) override {
    if (is_busy)
      return std::unexpected{store::store_error{store::store_errc::busy, "the store is busy"}};
    const auto found = objects.extract(id);
    if (!found)
      return std::unexpected{store::store_error{store::store_errc::not_found, "nothing is in flight"}};
    return found.mapped();
  }
  std::expected<void, store::store_error> abandon() override { return {}; }
  void release(const link_held&, const store::object_id&, std::uint64_t) override { ++released; }

  std::map<store::object_id, store::handle> objects;
  bool is_busy = false;
  int released = 0;
};

class finding_what_is_named : public lone_exchange_link {
protected:
  finding_what_is_named() {
    join_and_open();
    stored_->share(store_.number());
    const std::shared_ptr<shared_store_objects> whole = stored_;
    stored_->objects().live_in(whole);
  }
  store::object_id in_flight(std::size_t bytes = 100) {
    auto made = store_.put(std::vector<std::byte>(bytes)).value();
    const auto id = made.id();
    flights_.objects.emplace(id, std::move(made));
    return id;
  }
  static object_mention stored(const store::object_id& id) { return {object_mention::kind::stored, {.name = id}}; }
  static frame_descriptor part_of(const store::object_id& id, std::uint64_t offset, std::uint64_t bytes) {
    return {.place = frame_place::stored,
            .size_bytes = bytes,
            .object_index = id.index,
            .object_generation = id.generation,
            .object_offset = offset};
  }
  node_errc refused(const object_mention& what) {
    const auto received = reader_.receive_objects({what});
    return received ? node_errc::none : received.error().code();
  }

  store::object_store store_ =
      store::object_store::open({.name = "mentions-" + std::to_string(::getpid()), .capacity_bytes = 1 << 20}).value();
  flights_here flights_;
  const std::shared_ptr<shared_store_objects> stored_ = std::make_shared<shared_store_objects>(mutex_, flights_, io_);
  mention_reader reader_{
      {.actors = names_, .counted = in_exchange_, .stored = *stored_, .handle_bytes = handle_bytes_}};
};

TEST_F(finding_what_is_named, the_peers_actors_become_proxies) {
  const auto found = reader_.find_actor({.number = 7, .readers = false});
  ASSERT_TRUE(found);
  EXPECT_NE(as_proxy(*found), nullptr);
}

TEST_F(finding_what_is_named, own_actors_only_where_the_peer_was_given_them) {
  EXPECT_FALSE(reader_.find_actor({.number = 7, .readers = true}));
  const auto ann = actor();
  {
    const auto held = mutex_.lock();
    (void)names_.name(held, itself(ann));
  }
  const auto found = reader_.find_actor({.number = ann->id(), .readers = true});
  ASSERT_TRUE(found);
  EXPECT_EQ(*found, ann);
}

TEST_F(finding_what_is_named, objects_of_all_kinds_keep_their_order) {
  const auto id = in_flight(300);
  const auto found = reader_.receive_objects({{object_mention::kind::lost, {.size_bytes = 5}},
                                              stored(id),
                                              {object_mention::kind::counted, {.size_bytes = 7}}});
  ASSERT_TRUE(found);
  ASSERT_EQ(found->size(), 3u);
  EXPECT_EQ((*found)[0]->kind(), source_kind::lost);
  EXPECT_EQ((*found)[1]->kind(), source_kind::stored);
  EXPECT_EQ((*found)[1]->stored().id(), id);
  EXPECT_EQ((*found)[2]->size_bytes(), 7u);
  EXPECT_EQ(handle_bytes_, 300u);
}

TEST_F(finding_what_is_named, an_object_that_was_not_handed_over_breaks_the_protocol) {
  EXPECT_EQ(refused(stored({store_.number(), 900, 1})), node_errc::protocol_violation);
}

TEST_F(finding_what_is_named, an_object_in_another_store_breaks_the_protocol) {
  EXPECT_EQ(refused(stored({store_.number() + 1, 1, 1})), node_errc::protocol_violation);
}

TEST_F(finding_what_is_named, an_object_of_a_busy_store_is_lost) {
  const auto id = in_flight();
  flights_.is_busy = true;
  const auto found = reader_.receive_objects({stored(id)});
  ASSERT_TRUE(found);
  EXPECT_EQ((*found)[0]->kind(), source_kind::lost);
  EXPECT_EQ(handle_bytes_, 0u);
}

TEST_F(finding_what_is_named, a_counted_object_breaks_the_protocol_where_nobody_counts) {
  auto agreed = terms_.now();
  agreed.counts_handles = false;
  agree(agreed);
  EXPECT_EQ(refused({object_mention::kind::counted, {}}), node_errc::protocol_violation);
}

TEST_F(finding_what_is_named, a_frame_is_the_part_of_its_object) {
  const auto id = in_flight(100);
  auto found = reader_.receive_frame(part_of(id, 60, 40));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->size_bytes(), 40u);
  EXPECT_EQ(handle_bytes_, 40u);
  EXPECT_EQ(flights_.released, 0);
  *found = {};
  EXPECT_EQ(flights_.released, 1); // Released with the last reader.
}

TEST_F(finding_what_is_named, a_frame_beyond_its_object_breaks_the_protocol) {
  for (const auto& [offset, bytes] : {std::pair<std::uint64_t, std::uint64_t>{60, 41}, {101, 0}, {UINT64_MAX, 2}}) {
    const auto found = reader_.receive_frame(part_of(in_flight(100), offset, bytes));
    ASSERT_FALSE(found) << offset;
    EXPECT_EQ(found.error().code(), node_errc::protocol_violation);
  }
}

class sharing_no_store : public lone_exchange_link {
protected:
  flights_here flights_;
  shared_store_objects stored_{mutex_, flights_, io_};
  mention_reader reader_{{.actors = names_, .counted = in_exchange_, .stored = stored_, .handle_bytes = handle_bytes_}};
};

TEST_F(sharing_no_store, no_frame_lies_there) {
  const auto found = reader_.receive_frame({.place = frame_place::stored, .size_bytes = 1});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code(), node_errc::protocol_violation);
}

TEST_F(sharing_no_store, no_object_lies_there_and_none_is_released) {
  EXPECT_FALSE(reader_.receive_objects({{object_mention::kind::stored, {.name = {0, 1, 1}}}}));
  EXPECT_FALSE(stored_.on_release({.index = 1, .generation = 1, .count = 1}));
}

} // namespace
} // namespace troupe::internal
