// Goal: of several endpoints, the first one that accepts is used. A busy listener is waited for, and no attempt exceeds
// its timeout.
#include <troupe/framework/internal/net/dialing.hpp>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <asio/io_context.hpp>
#include <asio/local/stream_protocol.hpp>
#include <gtest/gtest.h>

namespace troupe::internal {
namespace {

using namespace std::chrono_literals;

stream_endpoint unix_name(const std::string& name) {
  return asio::local::stream_protocol::endpoint{std::string(1, '\0') + name};
}

/// A listener that never calls accept(). With `queue` 0, one connection may wait.
class listening_socket {
public:
  explicit listening_socket(const stream_endpoint& at, int queue = 16)
      : socket_(::socket(at.data()->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0)), at_(at) {
    EXPECT_EQ(::bind(socket_, at_.data(), static_cast<socklen_t>(at_.size())), 0);
    EXPECT_EQ(::listen(socket_, queue), 0);
    auto size = static_cast<socklen_t>(at_.capacity());
    EXPECT_EQ(::getsockname(socket_, at_.data(), &size), 0);
    at_.resize(size);
  }
  listening_socket(const listening_socket&) = delete;
  listening_socket& operator=(const listening_socket&) = delete;
  ~listening_socket() { ::close(socket_); }

  [[nodiscard]] const stream_endpoint& at() const { return at_; }

  void take_one() const {
    const int taken = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
    EXPECT_GE(taken, 0);
    ::close(taken);
  }

private:
  int socket_;
  stream_endpoint at_;
};

stream_endpoint loopback(std::uint16_t port) {
  sockaddr_in any{};
  any.sin_family = AF_INET;
  any.sin_port = htons(port);
  any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return {&any, sizeof(any), IPPROTO_TCP};
}

class a_dial : public testing::Test {
protected:
  void begin(std::vector<stream_endpoint> endpoints, std::chrono::milliseconds patience = 5s) {
    dialing_ = dialing::start(io_, "there", std::move(endpoints), std::chrono::steady_clock::now() + patience,
                              [this](dialing::result result) { result_.emplace(std::move(result)); });
  }
  /// Runs until the dial has ended.
  void finish() { io_.run(); }

  node_errc code() const { return result_ && !*result_ ? result_->error().code() : node_errc::none; }
  bool is_connected() const { return result_ && *result_; }

  const std::string name_ = "troupe-dialing-" + std::to_string(::getpid()) + '-'
                            + testing::UnitTest::GetInstance()->current_test_info()->name();
  asio::io_context io_;
  std::shared_ptr<dialing> dialing_;
  std::optional<dialing::result> result_;
};

TEST_F(a_dial, reaches_who_listens) {
  const listening_socket near{unix_name(name_)};
  begin({near.at()});
  EXPECT_FALSE(result_) << "told too early";
  finish();
  EXPECT_TRUE(is_connected());
}

TEST_F(a_dial, reaches_who_listens_over_tcp) {
  const listening_socket near{loopback(0)};
  begin({near.at()});
  finish();
  ASSERT_TRUE(is_connected());
  std::error_code failed;
  EXPECT_EQ((*result_)->remote_endpoint(failed).size(), near.at().size());
  EXPECT_FALSE(failed) << "nobody is at the other end";
}

TEST_F(a_dial, goes_on_to_the_next_where_nobody_listens) {
  std::optional<listening_socket> gone{loopback(0)};
  const auto nobody = gone->at();
  gone.reset();
  const listening_socket near{loopback(0)};
  begin({unix_name(name_ + "-nobody"), nobody, near.at()});
  finish();
  EXPECT_TRUE(is_connected());
}

TEST_F(a_dial, tells_why_the_last_one_failed) {
  std::optional<listening_socket> gone{loopback(0)};
  const auto nobody = gone->at();
  gone.reset();
  begin({unix_name(name_), nobody});
  finish();
  ASSERT_EQ(code(), node_errc::cannot_connect);
  EXPECT_EQ(result_->error().message(), "cannot connect to there: Connection refused");
}

TEST_F(a_dial, waits_while_the_queue_of_a_unix_listener_is_full) {
  const listening_socket busy{unix_name(name_), 0};
  begin({busy.at()});
  finish();
  ASSERT_TRUE(is_connected());
  const auto first = std::exchange(result_, std::nullopt);
  begin({busy.at()});
  io_.restart();
  io_.run_for(50ms);
  EXPECT_FALSE(result_) << "there was no room";
  busy.take_one();
  finish();
  EXPECT_TRUE(is_connected());
}

TEST_F(a_dial, waits_no_longer_than_it_may) {
  const listening_socket busy{unix_name(name_), 0};
  begin({busy.at()});
  finish();
  const auto first = std::exchange(result_, std::nullopt);
  const auto begun = std::chrono::steady_clock::now();
  begin({busy.at()}, 40ms);
  io_.restart();
  finish();
  ASSERT_EQ(code(), node_errc::timed_out);
  EXPECT_EQ(result_->error().message(), "no node accepted the connection at there in time");
  EXPECT_GE(std::chrono::steady_clock::now() - begun, 40ms);
}

TEST_F(a_dial, that_is_cancelled_tells_nothing) {
  const listening_socket near{unix_name(name_)};
  begin({near.at()});
  dialing_->cancel();
  finish();
  EXPECT_FALSE(result_);
}

TEST_F(a_dial, that_is_dropped_tells_nothing) {
  const listening_socket busy{unix_name(name_), 0};
  begin({busy.at()});
  finish();
  const auto first = std::exchange(result_, std::nullopt);
  begin({busy.at()});
  io_.restart();
  io_.run_for(5ms);
  dialing_.reset();
  finish();
  EXPECT_FALSE(result_);
}

TEST(what_connect_says, is_a_full_queue_for_unix_sockets_only) {
  EXPECT_EQ(step_of(0, AF_UNIX), connect_step::connected);
  EXPECT_EQ(step_of(0, AF_INET), connect_step::connected);
  EXPECT_EQ(step_of(EINPROGRESS, AF_INET6), connect_step::under_way);
  EXPECT_EQ(step_of(EAGAIN, AF_UNIX), connect_step::listener_is_full);
  EXPECT_EQ(step_of(EAGAIN, AF_INET), connect_step::failed);
  EXPECT_EQ(step_of(EAGAIN, AF_INET6), connect_step::failed);
  EXPECT_EQ(step_of(ECONNREFUSED, AF_UNIX), connect_step::failed);
}

} // namespace
} // namespace troupe::internal
