// Reports of the end of actors over a link, without a peer.
#include <troupe/framework/internal/link/monitors.hpp>

#include <future>

#include <caf/exit_reason.hpp>

#include <troupe/framework/node_error.hpp>

#include "lone_link.hpp"

namespace troupe::internal {
namespace {

class monitors_on_a_link : public lone_named_link {
protected:
  monitors_on_a_link() {
    monitors_.belong_to(link_);
    open();
  }

  caf::strong_actor_ptr find(std::uint64_t number) {
    const auto held = mutex_.lock();
    return *names_.find(held, {actor_name::side::mine, number}, true);
  }
  /// Returns the reason that a monitor of the actor gets.
  std::future<caf::error> end_of(const caf::strong_actor_ptr& who) {
    const auto told = std::make_shared<std::promise<caf::error>>();
    who->get()->attach(caf::attachable_ptr{new ending{told}});
    return told->get_future();
  }
  static caf::error wait_for(std::future<caf::error> told) {
    EXPECT_EQ(told.wait_for(std::chrono::seconds{5}), std::future_status::ready);
    return told.get();
  }

  class ending final : public caf::attachable {
  public:
    explicit ending(std::shared_ptr<std::promise<caf::error>> told) : told_(std::move(told)) {}
    void actor_exited(const caf::error& reason, caf::execution_unit*) override { told_->set_value(reason); }

  private:
    std::shared_ptr<std::promise<caf::error>> told_;
  };

  monitors monitors_{common_, system_, names_};
};

TEST_F(monitors_on_a_link, ask_the_peer_once_and_keep_the_proxy) {
  auto bob = find(6);
  const caf::weak_actor_ptr weak{bob.get()};
  monitors_.watch(6, bob);
  monitors_.watch(6, bob);
  EXPECT_EQ(admin_.hear<monitor>(admin_op::monitor)->actor, 6u);
  EXPECT_TRUE(admin_.is_silent());
  bob.reset();
  EXPECT_NE(weak.lock(), nullptr);
  monitors_.unwatch(6);
  EXPECT_EQ(admin_.hear<monitor>(admin_op::demonitor)->actor, 6u);
  EXPECT_EQ(weak.lock(), nullptr);
  monitors_.unwatch(6);
  EXPECT_TRUE(admin_.is_silent());
}

TEST_F(monitors_on_a_link, end_the_proxy_of_an_actor_that_is_down_after_the_packets_before) {
  const auto bob = find(6);
  auto told = end_of(bob);
  monitors_.watch(6, bob);
  monitors_.on_down({.actor = 6, .reason_code = 3, .reason_category = "troupe", .reason_text = "why"});
  EXPECT_EQ(told.wait_for(std::chrono::seconds{0}), std::future_status::timeout);
  monitors_.end_proxies();
  const auto reason = wait_for(std::move(told));
  EXPECT_EQ(reason.code(), 3);
  EXPECT_EQ(reason.category(), error_category);
  EXPECT_EQ(reason.context().get_as<std::string>(0), "why");
}

TEST_F(monitors_on_a_link, do_nothing_about_an_actor_that_nobody_watches) {
  const auto bob = find(6);
  auto told = end_of(bob);
  monitors_.on_down({.actor = 6, .reason_code = 0, .reason_category = {}, .reason_text = {}});
  monitors_.end_proxies();
  EXPECT_EQ(told.wait_for(std::chrono::milliseconds{20}), std::future_status::timeout);
  monitors_.end({bob});
  wait_for(std::move(told));
}

TEST_F(monitors_on_a_link, tell_the_peer_of_the_end_of_an_actor_that_it_was_given) {
  const auto ann = actor();
  EXPECT_FALSE(monitors_.on_monitor({ann->id()}));
  (void)names_.name(ann);
  EXPECT_TRUE(monitors_.on_monitor({ann->id()}));
  EXPECT_TRUE(monitors_.on_monitor({ann->id()}));
  caf::anon_send_exit(caf::actor_cast<caf::actor>(ann), caf::exit_reason::kill);
  wait_for(end_of(ann));
  std::optional<down> told;
  for (const auto until = std::chrono::steady_clock::now() + std::chrono::seconds{5};
       !told && std::chrono::steady_clock::now() < until;) {
    const auto held = mutex_.lock();
    told = admin_.hear<down>(admin_op::down);
  }
  ASSERT_TRUE(told);
  EXPECT_EQ(told->actor, ann->id());
  EXPECT_EQ(told->reason_code, static_cast<std::uint8_t>(caf::exit_reason::kill));
  EXPECT_EQ(told->reason_category, "exit");
  EXPECT_TRUE(admin_.is_silent()); // Only once.
}

TEST_F(monitors_on_a_link, tell_a_reasons_text_as_it_is) {
  monitors_.own_actor_ended(4, to_caf_error({node_errc::link_down, "gone"}));
  const auto told = admin_.hear<down>(admin_op::down);
  ASSERT_TRUE(told);
  EXPECT_EQ(told->reason_text, "gone");
  monitors_.own_actor_ended(4, {});
  EXPECT_EQ(admin_.hear<down>(admin_op::down)->reason_code, 0u);
}

TEST_F(monitors_on_a_link, no_longer_look_where_the_peer_does_not_want_to_know) {
  const auto ann = actor();
  (void)names_.name(ann);
  ASSERT_TRUE(monitors_.on_monitor({ann->id()}));
  monitors_.on_demonitor({ann->id()});
  monitors_.on_demonitor({ann->id()});
  caf::anon_send_exit(caf::actor_cast<caf::actor>(ann), caf::exit_reason::kill);
  wait_for(end_of(ann));
  const auto held = mutex_.lock();
  EXPECT_TRUE(admin_.is_silent());
}

TEST_F(monitors_on_a_link, end_all_proxies_with_the_link) {
  const auto bob = find(6);
  const auto eve = find(7);
  auto bobs = end_of(bob);
  auto eves = end_of(eve);
  const auto ann = actor();
  (void)names_.name(ann);
  ASSERT_TRUE(monitors_.on_monitor({ann->id()}));
  monitors_.watch(6, bob);
  EXPECT_TRUE(admin_.hear<monitor>(admin_op::monitor));
  enter(link_state::closed);
  admin_.takes_more = false;
  monitors_.end(names_.end().proxies);
  EXPECT_EQ(wait_for(std::move(bobs)), caf::make_error(caf::exit_reason::remote_link_unreachable));
  EXPECT_EQ(wait_for(std::move(eves)), caf::make_error(caf::exit_reason::remote_link_unreachable));
  admin_.takes_more = true;
  caf::anon_send_exit(caf::actor_cast<caf::actor>(ann), caf::exit_reason::kill);
  wait_for(end_of(ann));
  const auto held = mutex_.lock();
  EXPECT_TRUE(admin_.is_silent()); // Nothing monitors it any more.
}

TEST_F(monitors_on_a_link, are_told_at_the_end_of_what_is_watched_while_the_link_closes) {
  const auto bob = find(6);
  enter(link_state::closing);
  monitors_.watch(6, bob);
  EXPECT_TRUE(admin_.is_silent());
  auto told = end_of(bob);
  enter(link_state::closed);
  monitors_.end(names_.end().proxies);
  wait_for(std::move(told));
}

} // namespace
} // namespace troupe::internal
