// Hand-overs, holds and turns of several attachments to one store, all in this process.
#include "../support.hpp"

#include <troupe/store/internal/attachment/attachment.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <optional>

namespace troupe::store::internal {

namespace {

using test::code_of;

constexpr auto channel = std::uint64_t{7};

class flights_test : public test::store_test {
protected:
  void SetUp() override {
    sender_.emplace(opened(), "sender");
    receiver_.emplace(opened(), "receiver");
  }

  void TearDown() override {
    receiver_.reset();
    sender_.reset();
    store_test::TearDown();
  }

  [[nodiscard]] opened_store opened() {
    auto made = open_store(settings_);
    if (!made)
      std::abort();
    return *std::move(made);
  }

  /// A sealed object that the sender holds once.
  [[nodiscard]] held_object put(std::string_view text) {
    auto made = sender_->writer().create({.size_bytes = text.size(), .metadata = {}, .captured = {}, .origin = {}},
                                         std::chrono::milliseconds{0}, std::source_location::current());
    std::memcpy(made->bytes.data(), text.data(), text.size());
    EXPECT_TRUE(sender_->writer().seal(made->index, text.size(), false));
    return {made->index, made->generation};
  }

  [[nodiscard]] object_id id_of(const held_object& what) const {
    return {sender_->number(), what.index, what.generation};
  }

  [[nodiscard]] std::string read(attachment& by, std::uint32_t index) {
    if (!by.views().pin(index, std::nullopt))
      return "not to be had";
    auto text = test::text_of(by.views().payload_of(index, nullptr));
    by.holds().release_pin(index);
    return text;
  }

  std::optional<attachment> sender_;
  std::optional<attachment> receiver_;
};

TEST_F(flights_test, what_is_in_flight_lives_without_its_sender_until_it_is_adopted) {
  const auto object = put("text");
  ASSERT_TRUE(sender_->in_flight().hand_over(object, receiver_->member().self(), channel));
  sender_->release(object.index);
  const auto adopted = receiver_->in_flight().adopt(id_of(object), sender_->member().self(), channel);
  ASSERT_TRUE(adopted);
  EXPECT_EQ(read(*receiver_, adopted->index), "text");
  receiver_->release(adopted->index);
  EXPECT_FALSE(sender_->finder().contains(id_of(object)));
  EXPECT_TRUE(sender_->survey().verify());
}

TEST_F(flights_test, each_hand_over_is_adopted_once) {
  const auto object = put("text");
  ASSERT_TRUE(sender_->in_flight().hand_over(object, receiver_->member().self(), channel));
  const auto first = receiver_->in_flight().adopt(id_of(object), sender_->member().self(), channel);
  EXPECT_EQ(code_of(receiver_->in_flight().adopt(id_of(object), sender_->member().self(), channel)),
            store_errc::not_found);
  receiver_->release(first->index);
  sender_->release(object.index);
}

TEST_F(flights_test, what_is_taken_back_is_not_adopted) {
  const auto object = put("text");
  ASSERT_TRUE(sender_->in_flight().hand_over(object, receiver_->member().self(), channel));
  sender_->in_flight().take_back(object, receiver_->member().self(), channel);
  EXPECT_EQ(code_of(receiver_->in_flight().adopt(id_of(object), sender_->member().self(), channel)),
            store_errc::not_found);
  sender_->release(object.index);
  EXPECT_FALSE(receiver_->finder().contains(id_of(object)));
}

TEST_F(flights_test, another_channel_is_another_way) {
  const auto object = put("text");
  ASSERT_TRUE(sender_->in_flight().hand_over(object, receiver_->member().self(), channel));
  EXPECT_EQ(code_of(receiver_->in_flight().adopt(id_of(object), sender_->member().self(), channel + 1)),
            store_errc::not_found);
  EXPECT_TRUE(receiver_->in_flight().abandon(sender_->member().self(), channel));
  sender_->release(object.index);
  EXPECT_FALSE(sender_->finder().contains(id_of(object)));
}

TEST_F(flights_test, what_comes_late_on_an_abandoned_channel_goes_with_the_next_reaping) {
  const auto object = put("text");
  ASSERT_TRUE(receiver_->in_flight().abandon(sender_->member().self(), channel));
  ASSERT_TRUE(sender_->in_flight().hand_over(object, receiver_->member().self(), channel));
  sender_->release(object.index);
  EXPECT_TRUE(receiver_->finder().contains(id_of(object)));
  EXPECT_TRUE(receiver_->dead().reap());
  EXPECT_FALSE(receiver_->finder().contains(id_of(object)));
}

TEST_F(flights_test, holds_are_counted_in_each_process_and_the_last_one_frees) {
  const auto object = put("text");
  sender_->holds().retain(object.index);
  const auto found = receiver_->finder().find(id_of(object));
  ASSERT_TRUE(found);
  EXPECT_EQ(sender_->holds().own_of(object.index).handles, 2u);
  EXPECT_EQ(receiver_->holds().own_of(object.index).handles, 1u);
  sender_->release(object.index);
  sender_->release(object.index);
  EXPECT_TRUE(sender_->finder().contains(id_of(object)));
  receiver_->release(found->index);
  EXPECT_FALSE(sender_->finder().contains(id_of(object)));
}

TEST_F(flights_test, members_know_each_other_and_nobody_else) {
  EXPECT_TRUE(sender_->member().shares_with(receiver_->member().self()));
  auto stranger = receiver_->member().self();
  ++stranger.nonce;
  EXPECT_FALSE(sender_->member().shares_with(stranger));
}

} // namespace

} // namespace troupe::store::internal
