// Large messages are encoded elsewhere, in order with others of the same receiver.
#include <troupe/framework/internal/link/offloader.hpp>

#include <future>
#include <optional>
#include <string>
#include <vector>

#include <troupe/framework/internal/caf_port/caf_threads.hpp>

#include "way_out.hpp"

namespace troupe::internal {
namespace {

class offloading : public encoding_way_out, public offload_target {
protected:
  offloading() {
    mark_threads(actor_config_);
    actor_system_.emplace(actor_config_);
    senders_.emplace(*actor_system_);
    encoder_.emplace(*actor_system_);
    offloads_.emplace(offloader::parts{.link = common_,
                                       .options = options,
                                       .enough_bytes = enough_,
                                       .types = encodings,
                                       .actors = actors,
                                       .waiting = encoding,
                                       .gate = gate,
                                       .pump = pump,
                                       .encoder = *encoder_},
                      *this);
    offloads_->open(alive_);
  }

  /// In an actor; whether it was taken.
  bool take(std::string text, std::uint64_t receiver = 3, caf::message_id id = caf::make_message_id()) {
    std::promise<bool> taken;
    senders_->run_soon([&] {
      auto what = element(nullptr, id, text);
      taken.set_value(offloads_->take(receiver, what, nullptr));
    });
    return taken.get_future().get();
  }
  /// Until the encoder has nothing to do.
  void encode_all() {
    std::promise<void> over;
    encoder_->run_soon([&] { over.set_value(); });
    over.get_future().get();
    if (!encoding.is_idle())
      encode_all();
  }

  static std::string text_of(const offloaded_message& message) {
    return message.what.element->content().get_as<std::string>(0).substr(0, 5);
  }
  void send_now(offloaded_message message) override { done_.push_back("sent " + text_of(message)); }
  void fail(offloaded_message message, const node_error& reason, caf::execution_unit*) override {
    done_.push_back("failed " + text_of(message));
    failure_ = reason;
  }
  void drop(offloaded_message message, caf::execution_unit*) override {
    done_.push_back("dropped " + text_of(message));
  }

  caf::actor_system_config actor_config_;
  std::optional<caf::actor_system> actor_system_;
  std::optional<job_actor> senders_;
  std::optional<job_actor> encoder_;
  std::shared_ptr<int> alive_ = std::make_shared<int>();
  std::atomic<std::size_t> enough_{1000};
  std::optional<offloader> offloads_;
  std::vector<std::string> done_;
  node_error failure_{node_errc::none, ""};

  static inline const std::string large_ = std::string(5, 'L') + std::string(1800, 'x');
};

TEST_F(offloading, large_ones_are_taken_and_sent_by_the_encoder) {
  EXPECT_TRUE(take(large_));
  encode_all();
  EXPECT_EQ(done_, std::vector<std::string>{"sent LLLLL"});
}

TEST_F(offloading, small_ones_are_not) {
  EXPECT_FALSE(take("small"));
  EXPECT_TRUE(encoding.is_idle());
}

TEST_F(offloading, threads_of_the_users_own_encode_themselves) {
  auto what = element(nullptr, caf::make_message_id(), large_);
  EXPECT_FALSE(offloads_->take(3, what, nullptr));
  EXPECT_NE(what, nullptr);
}

TEST_F(offloading, none_is_taken_where_none_is_large) {
  EXPECT_FALSE(offloads_->is_idle());
  enough_ = 0;
  EXPECT_TRUE(offloads_->is_idle());
  EXPECT_FALSE(take(large_));
}

class offloading_slowly : public offloading {
protected:
  offloading_slowly() {
    encoder_->run_soon([this] { go_on_.get_future().get(); });
    auto agreed = terms_.now();
    agreed.windows.window = 1000;
    lone_link::agree(std::move(agreed));
    options.queue_bytes = 3000;
    options.unread_answer_bytes = 3000;
  }
  void go_on() {
    if (!std::exchange(goes_on_, true))
      go_on_.set_value();
    encode_all();
  }
  ~offloading_slowly() override { go_on(); }

private:
  std::promise<void> go_on_;
  bool goes_on_ = false;
};

TEST_F(offloading_slowly, later_ones_to_the_same_receiver_stay_behind) {
  EXPECT_TRUE(take(large_));
  EXPECT_TRUE(take("small"));
  EXPECT_FALSE(take("other", 4));
  EXPECT_FALSE(gate.is_ready(3));
  go_on();
  EXPECT_EQ(done_, (std::vector<std::string>{"sent LLLLL", "sent small"}));
  EXPECT_TRUE(gate.is_ready(3));
}

TEST_F(offloading_slowly, beyond_the_bound_they_fail_with_the_numbers) {
  EXPECT_TRUE(take(large_));
  EXPECT_TRUE(take(large_));
  EXPECT_TRUE(take(large_));
  EXPECT_EQ(done_, std::vector<std::string>{"failed LLLLL"});
  EXPECT_EQ(failure_.code(), node_errc::link_busy);
  EXPECT_NE(failure_.message().find("wait to be encoded, limit 4,000 (window_bytes and queue_bytes)"),
            std::string::npos)
      << failure_.message();
}

TEST_F(offloading_slowly, answers_have_a_bound_of_their_own) {
  EXPECT_TRUE(take(large_));
  EXPECT_TRUE(take(large_));
  EXPECT_TRUE(take(large_, 3, caf::make_message_id(1).response_id()));
  EXPECT_TRUE(done_.empty());
}

TEST_F(offloading_slowly, the_oldest_makes_room_where_the_policy_says_so) {
  options.when_full = when_full::drop_oldest;
  EXPECT_TRUE(take("first" + large_));
  EXPECT_TRUE(take(large_));
  EXPECT_TRUE(take(large_));
  EXPECT_EQ(done_, std::vector<std::string>{"dropped first"});
}

TEST_F(offloading_slowly, what_is_left_at_the_end_fails) {
  EXPECT_TRUE(take(large_));
  enter(link_state::closed);
  offloads_->end();
  EXPECT_EQ(done_, std::vector<std::string>{"failed LLLLL"});
  EXPECT_EQ(failure_.code(), node_errc::link_down);
}

TEST_F(offloading_slowly, what_comes_when_the_link_has_ended_is_not_sent) {
  EXPECT_TRUE(take(large_));
  enter(link_state::closed);
  go_on();
  EXPECT_EQ(done_, std::vector<std::string>{"failed LLLLL"});
}

TEST_F(offloading_slowly, jobs_of_a_link_that_is_gone_do_nothing) {
  EXPECT_TRUE(take(large_));
  alive_.reset();
  offloads_->end(); // Else it would wait for ever.
  done_.clear();
  go_on();
  EXPECT_TRUE(done_.empty());
}

} // namespace
} // namespace troupe::internal
