#include <troupe/framework/internal/net/listener.hpp>
#include <troupe/processes/process.hpp>

#include <array>
#include <filesystem>
#include <fstream>
#include <latch>
#include <memory>
#include <string>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <gtest/gtest.h>

#include <troupe/framework/internal/net/host_lookup.hpp>

#include "../log_lines.hpp"

namespace troupe::internal {
namespace {

class listener_at_a_file : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_NE(::mkdtemp(folder_.data()), nullptr);
    path_ = std::string{folder_.data()} + "/socket";
    at_ = parse_address("unix://" + path_).value();
  }
  ~listener_at_a_file() override {
    EXPECT_EQ(files(), 0) << "something was left behind";
    std::filesystem::remove_all(folder_.data());
  }

  using listening = std::expected<std::shared_ptr<listener>, node_error>;

  listening open(asio::io_context& io) {
    return listener::open(
        io, at_, resolve(at_, std::chrono::milliseconds{1}).value().front(),
        [](stream_socket, const std::shared_ptr<refusal_log>&) {}, [] { return false; });
  }
  listening open() { return open(io_); }

  /// Leaves the file of a socket that was bound and then closed.
  void leave_a_file() {
    const auto socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const auto to = address();
    ASSERT_EQ(::bind(socket, reinterpret_cast<const sockaddr*>(&to), sizeof(to)), 0);
    ::close(socket);
  }

  /// Returns true if a socket listens at the path.
  bool is_reachable() {
    const auto socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const auto to = address();
    const auto connected = ::connect(socket, reinterpret_cast<const sockaddr*>(&to), sizeof(to)) == 0;
    ::close(socket);
    return connected;
  }

  sockaddr_un address() const {
    sockaddr_un result{.sun_family = AF_UNIX, .sun_path = {}};
    path_.copy(result.sun_path, sizeof(result.sun_path) - 1);
    return result;
  }

  std::ptrdiff_t files() const { return std::distance(std::filesystem::directory_iterator{folder_.data()}, {}); }

  std::array<char, 32> folder_{"/tmp/troupe-listener-XXXXXX"};
  std::string path_;
  internal::address at_;
  asio::io_context io_;
};

TEST_F(listener_at_a_file, makes_it_for_this_user_only_and_removes_it) {
  const auto before = ::umask(0);
  auto opened = open();
  ::umask(before);
  ASSERT_TRUE(opened) << opened.error().message();
  struct stat status {};
  ASSERT_EQ(::lstat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode, S_IFSOCK | S_IRUSR | S_IWUSR);
  EXPECT_TRUE(is_reachable());
  EXPECT_EQ(files(), 1); // No lock file stays beside it.
  (*opened)->close();
  EXPECT_EQ(files(), 0);
}

TEST_F(listener_at_a_file, replaces_one_that_was_left_behind) {
  leave_a_file();
  EXPECT_FALSE(is_reachable());
  auto opened = open();
  ASSERT_TRUE(opened) << opened.error().message();
  EXPECT_TRUE(is_reachable());
}

TEST_F(listener_at_a_file, refuses_where_somebody_listens_or_keeps_something_else) {
  {
    auto first = open();
    ASSERT_TRUE(first);
    auto second = open();
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code(), node_errc::cannot_connect);
    EXPECT_TRUE(is_reachable());
  }
  std::ofstream{path_} << "a file";
  EXPECT_FALSE(open());
  EXPECT_TRUE(std::filesystem::remove(path_));
}

// Goal: a listener does not remove the file that another node has meanwhile made at the path.
TEST_F(listener_at_a_file, does_not_remove_that_of_another_one) {
  auto first = open();
  ASSERT_TRUE(first);
  ASSERT_TRUE(std::filesystem::remove(path_));
  auto second = open();
  ASSERT_TRUE(second) << second.error().message();
  (*first)->close();
  EXPECT_TRUE(is_reachable());
  (*second)->close();
  EXPECT_EQ(files(), 0);
}

TEST_F(listener_at_a_file, does_not_remove_what_was_put_there_instead) {
  auto opened = open();
  ASSERT_TRUE(opened);
  std::filesystem::remove(path_);
  std::ofstream{path_} << "somebody's";
  (*opened)->close();
  EXPECT_TRUE(std::filesystem::remove(path_));
}

TEST_F(listener_at_a_file, stays_when_the_child_of_a_fork_ends_it) {
  auto opened = open();
  ASSERT_TRUE(opened);
  const auto ends_it = [&] {
    (*opened)->close();
    return 0;
  };
  EXPECT_EQ(processes::process::fork(ends_it).value().wait(), processes::exited_with(0));
  EXPECT_TRUE(is_reachable());
}

// Goal: if two nodes start at once beside a leftover file, one listens, and the other gets an error.
TEST_F(listener_at_a_file, is_one_of_those_that_start_at_once) {
  for (int round = 0; round < 300; ++round) {
    leave_a_file();
    std::array<asio::io_context, 2> loops;
    std::array<listening, 2> opened;
    std::latch start{2};
    {
      std::array<std::jthread, 2> both;
      for (std::size_t i = 0; i < 2; ++i)
        both[i] = std::jthread{[&, i] {
          start.arrive_and_wait();
          opened[i] = open(loops[i]);
        }};
    }
    ASSERT_NE(opened[0].has_value(), opened[1].has_value()) << round;
    const auto& failed = opened[0] ? opened[1] : opened[0];
    ASSERT_EQ(failed.error().code(), node_errc::cannot_connect) << failed.error().message();
    ASSERT_TRUE(is_reachable());
    for (auto& each : opened)
      each = nullptr;
    ASSERT_EQ(files(), 0);
  }
}

// Goal: if one node ends while another node starts, the new node listens.
TEST_F(listener_at_a_file, is_reachable_though_another_one_ends_meanwhile) {
  for (int round = 0; round < 300; ++round) {
    asio::io_context other;
    auto first = open(other);
    ASSERT_TRUE(first);
    listening second;
    {
      std::jthread ends{[&] { (*first)->close(); }};
      do { // Until the first node has given up the path.
        second = open();
      } while (!second && second.error().code() == node_errc::cannot_connect);
    }
    ASSERT_TRUE(second) << second.error().message();
    ASSERT_TRUE(is_reachable()) << round;
    (*second)->close();
  }
}

TEST_F(listener_at_a_file, says_whose_the_lock_beside_it_is) {
  const auto lock = path_ + ".lock";
  if (::geteuid() != 0)
    GTEST_SKIP() << "only root can give a file to somebody else";
  std::ofstream{lock} << "";
  ASSERT_EQ(::chown(lock.c_str(), 12345, 12345), 0);
  auto opened = open();
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().message().find("belongs to user 12345"), std::string::npos) << opened.error().message();
  EXPECT_TRUE(std::filesystem::remove(lock));
}

TEST_F(listener_at_a_file, says_that_its_folder_is_missing) {
  at_ = parse_address("unix:///nonexistent/socket").value();
  auto opened = open();
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().message(), "cannot listen at unix:///nonexistent/socket: No such file or directory");
}

TEST_F(listener_at_a_file, is_made_though_a_killed_process_has_left_its_lock) {
  std::ofstream{path_ + ".lock"} << "";
  auto opened = open();
  ASSERT_TRUE(opened) << opened.error().message();
  EXPECT_EQ(files(), 1);
}

// Goal: the error names the obstacle and its owner, and nothing there is changed.
TEST_F(listener_at_a_file, says_what_stands_in_its_way) {
  const auto refusal = [&] {
    const auto opened = open();
    return opened ? std::string{} : to_string(opened.error().code()) + ": " + opened.error().message();
  };
  const auto begin = "bad_address: cannot listen at unix://" + path_ + ": ";
  std::ofstream{path_} << "precious";
  EXPECT_EQ(refusal(), begin + "the path is a file that is not a socket; remove it, or choose another path");
  std::filesystem::remove(path_);
  std::filesystem::create_directory(path_);
  EXPECT_EQ(refusal(), begin + "the path is a folder; choose a path within it, such as " + path_ + "/socket");
  std::filesystem::remove(path_);
  std::filesystem::create_symlink("/nowhere", path_);
  EXPECT_EQ(refusal(), begin
                           + "the path is a symbolic link; remove it, or choose "
                             "another path");
  std::filesystem::remove(path_);
  if (::geteuid() != 0)
    return; // Only root can give a file away.
  leave_a_file();
  ASSERT_EQ(::chown(path_.c_str(), 4242, 4242), 0);
  EXPECT_EQ(refusal(), begin
                           + "the socket there belongs to user 4242; choose another path, or have that user remove "
                             "it");
  std::filesystem::remove(path_);
}

// -- a name with several addresses

class listener_of_a_name : public testing::Test {
protected:
  using all = std::expected<std::vector<std::shared_ptr<listener>>, node_error>;

  static stream_endpoint at(const char* host, std::uint16_t port) {
    return asio::ip::tcp::endpoint{asio::ip::make_address(host), port};
  }

  all open(std::vector<stream_endpoint> endpoints, std::uint16_t port) {
    const auto name = parse_address("tcp://somewhere:" + std::to_string(port)).value();
    return listen_at_all(name, endpoints, [this](const address& text, const stream_endpoint& endpoint) {
      if (fails_ > 0 && endpoint.data()->sa_family == AF_INET && endpoint != at("127.0.0.1", port_of(endpoint))) {
        --fails_;
        return std::expected<std::shared_ptr<listener>, node_error>{
            std::unexpected{node_error{node_errc::cannot_connect, "taken"}}};
      }
      return listener::open(
          io_, text, endpoint, [](stream_socket, const std::shared_ptr<refusal_log>&) {}, [] { return false; });
    });
  }

  asio::io_context io_;
  int fails_ = 0; // The number of opens of other addresses that find the port taken.
};

TEST_F(listener_of_a_name, is_at_all_of_them_and_at_one_port) {
  const auto opened = open({at("127.0.0.1", 0), at("127.0.0.2", 0), at("127.0.0.1", 0)}, 0);
  ASSERT_TRUE(opened) << opened.error().message();
  ASSERT_EQ(opened->size(), 2u); // One of them was given twice.
  EXPECT_EQ(opened->front()->port(), opened->back()->port());
  EXPECT_EQ(opened->front()->text(), "tcp://somewhere:" + std::to_string(opened->front()->port()));
}

TEST_F(listener_of_a_name, takes_another_port_where_that_is_not_free_everywhere) {
  fails_ = 3;
  const auto opened = open({at("127.0.0.1", 0), at("127.0.0.2", 0)}, 0);
  ASSERT_TRUE(opened) << opened.error().message();
  EXPECT_EQ(opened->size(), 2u);
  EXPECT_EQ(fails_, 0);
}

// Goal: a peer that dials the name never reaches another node's listener.
TEST_F(listener_of_a_name, is_refused_where_somebody_else_has_a_part_of_it) {
  const auto other = open({at("127.0.0.2", 0)}, 0);
  ASSERT_TRUE(other);
  const auto port = other->front()->port();
  const auto opened = open({at("127.0.0.1", port), at("127.0.0.2", port)}, port);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code(), node_errc::cannot_connect);
  EXPECT_NE(opened.error().message().find("the address is already in use (127.0.0.2)"), std::string::npos)
      << opened.error().message();
}

TEST_F(listener_of_a_name, says_where_it_is_not) {
  const tests::log_lines lines{log_level::warning};
  const auto opened = open({at("192.0.2.1", 0), at("127.0.0.1", 0)}, 0); // The first one is reserved for documentation.
  ASSERT_TRUE(opened) << opened.error().message();
  EXPECT_EQ(opened->size(), 1u);
  EXPECT_EQ(lines.with("not listening at every address of tcp://somewhere:0"), 1u) << lines.text();
  EXPECT_EQ(lines.with("(192.0.2.1)"), 1u) << lines.text();
}

} // namespace
} // namespace troupe::internal
