// Goal: an attempt ends in an open link, or in an error with the reason, whichever side ends it and whenever it does.
#include <troupe/framework/internal/node/connecting.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <caf/all.hpp>
#include <gtest/gtest.h>

#include <troupe/framework/internal/link/node_link.hpp>
#include <troupe/framework/internal/node/node_core.hpp>

#include "../two_nodes.hpp"

namespace troupe::tests {
namespace {

using internal::awaited_link;
using internal::connecting;
using internal::destination;

/// A listener that accepts no connection, so dialers wait for a greeting.
class mute_listener {
public:
  mute_listener() : name_(unique_name("troupe-silent")) {
    sockaddr_un at{};
    at.sun_family = AF_UNIX;
    name_.copy(&at.sun_path[1], name_.size());
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name_.size());
    EXPECT_EQ(::bind(socket_, reinterpret_cast<const sockaddr*>(&at), size), 0);
    EXPECT_EQ(::listen(socket_, 4), 0);
  }
  mute_listener(const mute_listener&) = delete;
  mute_listener& operator=(const mute_listener&) = delete;
  ~mute_listener() { ::close(socket_); }

  [[nodiscard]] std::string address() const { return "unix://@" + name_; }

private:
  const std::string name_;
  const int socket_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
};

class an_attempt : public testing::Test {
protected:
  ~an_attempt() override { end_node(); }

  void end_node() {
    if (auto ending = std::exchange(node_, nullptr))
      ending->shut_down();
  }

  [[nodiscard]] destination to(const std::string& address, std::chrono::milliseconds timeout = 10s) const {
    link_options options;
    options.connect_timeout = timeout;
    return destination::make(address, options, families_).value();
  }
  /// Starts an attempt that the node keeps, like connect().
  [[nodiscard]] std::shared_ptr<awaited_link> begin(destination where) const {
    auto made = std::make_shared<awaited_link>(node_, std::move(where));
    EXPECT_TRUE(node_->dials().keep(made));
    return made;
  }
  connecting::result reach(destination where) const {
    const auto attempt = begin(std::move(where));
    auto reached = attempt->wait();
    node_->dials().let_go(attempt);
    return reached;
  }
  /// Runs `work` on the I/O thread, after the jobs already queued there.
  template <class Work>
  auto on_io(Work work) const {
    std::packaged_task<decltype(work())()> task{std::move(work)};
    auto result = task.get_future();
    asio::post(node_->io(), std::ref(task));
    return result.get();
  }

  const std::string far_address_ = "unix://@" + unique_name("troupe-attempt");
  type_registry types_;
  family_set families_;
  system_config config_;
  caf::actor_system system_{config_};
  std::shared_ptr<internal::node_core> node_ = [this] {
    auto made = std::make_shared<internal::node_core>(system_, types_, families_,
                                                      node_options{.name = "near", .store = std::nullopt});
    EXPECT_TRUE(made->start());
    return made;
  }();
};

TEST_F(an_attempt, comes_to_an_open_link) {
  side far{{.name = "far", .listen = {far_address_}, .store = std::nullopt}};
  const auto reached = reach(to(far_address_));
  ASSERT_TRUE(reached) << reached.error().message();
  EXPECT_TRUE((*reached)->is_open());
}

TEST_F(an_attempt, within_the_process_comes_to_an_open_link) {
  const auto address = "inproc://" + unique_name("attempt");
  side far{{.name = "far", .listen = {address}, .store = std::nullopt}};
  const auto reached = reach(to(address));
  ASSERT_TRUE(reached) << reached.error().message();
  EXPECT_TRUE((*reached)->is_open());
}

TEST_F(an_attempt, fails_where_nobody_listens) {
  const auto reached = reach(to(far_address_));
  ASSERT_FALSE(reached);
  EXPECT_EQ(reached.error().code(), node_errc::cannot_connect);
  EXPECT_TRUE(reached.error().message().starts_with("cannot connect to " + far_address_)) << reached.error().message();
}

TEST_F(an_attempt, waits_no_longer_than_it_may_for_a_greeting) {
  const mute_listener silent;
  const auto begun = std::chrono::steady_clock::now();
  const auto reached = reach(to(silent.address(), 50ms));
  ASSERT_FALSE(reached);
  EXPECT_EQ(reached.error().code(), node_errc::timed_out) << reached.error().message();
  EXPECT_TRUE(reached.error().message().starts_with("connecting to " + silent.address())) << reached.error().message();
  EXPECT_GE(std::chrono::steady_clock::now() - begun, 50ms);
}

TEST_F(an_attempt, ends_with_the_node) {
  const mute_listener silent;
  const auto attempt = begin(to(silent.address()));
  std::optional<connecting::result> reached;
  std::thread waiting{[&] { reached.emplace(attempt->wait()); }};
  const auto begun = std::chrono::steady_clock::now();
  end_node();
  waiting.join();
  ASSERT_FALSE(*reached);
  EXPECT_EQ(reached->error().code(), node_errc::link_down);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 9s);
}

TEST_F(an_attempt, does_not_begin_after_the_end_of_the_node) {
  const auto node = node_;
  end_node();
  const auto kept = node->dials().keep(std::make_shared<awaited_link>(node, to(far_address_)));
  ASSERT_FALSE(kept);
  EXPECT_EQ(kept.error().code(), node_errc::link_down);
}

TEST_F(an_attempt, that_is_cancelled_tells_nothing) {
  const mute_listener silent;
  const auto where = std::make_shared<destination>(to(silent.address()));
  auto told = std::make_shared<bool>(false);
  auto attempt = connecting::start(node_, where, std::chrono::steady_clock::now() + 10s,
                                   {.done = [told](const connecting::result&) { *told = true; },
                                    .ended = [told](const node_error&) { *told = true; }});
  EXPECT_EQ(on_io([&] { return attempt->cancel(); }), nullptr);
  on_io([&] { attempt.reset(); });
  end_node();
  EXPECT_FALSE(*told);
}

TEST_F(an_attempt, tells_once_of_its_end_and_once_of_the_links) {
  auto far = std::make_unique<side>(node_options{.name = "far", .listen = {far_address_}, .store = std::nullopt});
  std::promise<connecting::result> done;
  std::promise<node_errc> ended;
  const auto attempt =
      connecting::start(node_, std::make_shared<destination>(to(far_address_)), std::chrono::steady_clock::now() + 10s,
                        {.done = [&](connecting::result reached) { done.set_value(std::move(reached)); },
                         .ended = [&](const node_error& reason) { ended.set_value(reason.code()); }});
  ASSERT_TRUE(done.get_future().get());
  far = nullptr;
  EXPECT_EQ(ended.get_future().get(), node_errc::link_down);
}

TEST(a_destination, is_refused_where_no_link_could_come_of_it) {
  const family_set families;
  link_options options;
  EXPECT_EQ(destination::make("nowhere", options, families).error().code(), node_errc::bad_address);
  options.connect_timeout = 0ms;
  EXPECT_EQ(destination::make("unix://@x", options, families).error().code(), node_errc::bad_option);
}

} // namespace
} // namespace troupe::tests
