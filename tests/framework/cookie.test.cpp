// Secrets in files: created once, and readable by their owner only.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <troupe/framework/internal/trust/secret_file.hpp>
#include <troupe/processes/process.hpp>

#include "raw_peer.hpp"
#include "two_nodes.hpp"

namespace troupe::tests {
namespace {

namespace files = std::filesystem;

class cookie_file : public two_nodes {
protected:
  cookie_file() { files::create_directory(folder_); }
  ~cookie_file() override { files::remove_all(folder_); }

  void write(const std::string& text, mode_t mode) const {
    std::ofstream{path_} << text;
    ::chmod(path_.c_str(), mode);
  }

  std::string why_not() const {
    auto read = read_or_make_cookie(path_);
    return read ? "readable" : read.error().message();
  }

  static link_options with_cookie(const std::string& path) {
    link_options options;
    options.credentials.cookie_file = path;
    return options;
  }

  files::path folder_ = testing::TempDir() + unique_name("troupe-cookie");
  std::string path_ = folder_ / "below" / "cookie";
};

TEST_F(cookie_file, is_made_where_it_is_missing_for_its_owner_only) {
  auto made = read_or_make_cookie(path_);
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_EQ(made->size(), 64u);
  EXPECT_EQ(read_or_make_cookie(path_).value_or("none"), *made);
  struct stat status {};
  ASSERT_EQ(::stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  ASSERT_EQ(::stat((folder_ / "below").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
  EXPECT_EQ(std::distance(files::directory_iterator{folder_ / "below"}, {}), 1); // No temporary file is left.
}

TEST_F(cookie_file, is_refused_when_others_can_reach_it) {
  path_ = folder_ / "cookie";
  for (mode_t mode : {0640u, 0604u, 0620u, 0610u}) {
    write(std::string(64, 'a'), mode);
    expect_contains(why_not(),
                    "can be read or written by other users, which a secret does not allow; to use it, run: chmod 600 "
                        + path_);
  }
  ::chmod(path_.c_str(), 0600);
  EXPECT_EQ(why_not(), "readable");
}

TEST_F(cookie_file, is_refused_when_it_is_another_users) {
  if (::geteuid() != 0)
    GTEST_SKIP() << "only root can give files away";
  path_ = folder_ / "cookie";
  write(std::string(64, 'a'), 0600);
  ASSERT_EQ(::chown(path_.c_str(), 4711, 4711), 0);
  expect_contains(why_not(), "belongs to user 4711");
}

TEST_F(cookie_file, is_refused_when_it_holds_something_else) {
  path_ = folder_ / "cookie";
  for (const auto& text : {std::string{}, std::string(63, 'a'), std::string(64, 'x'), std::string(5000, 'a')}) {
    write(text, 0600);
    EXPECT_NE(why_not(), "readable") << text.size();
  }
  files::remove(path_);
  files::create_directory(path_);
  expect_contains(why_not(), path_);
}

TEST_F(cookie_file, is_the_same_for_processes_that_come_at_the_same_time) {
  constexpr std::size_t count = 8;
  int start[2];
  ASSERT_EQ(::pipe2(start, O_CLOEXEC), 0);
  std::vector<processes::process> children;
  for (std::size_t i = 0; i < count; ++i)
    children.push_back(processes::process::fork([&](processes::line_channel& test) {
                         ::close(start[1]);
                         char nothing = 0;
                         [[maybe_unused]] auto woken = ::read(start[0], &nothing, 1); // All processes continue at once.
                         test.write_line(read_or_make_cookie(path_).value_or("no cookie"));
                         return 0;
                       }).value());
  ::close(start[0]);
  ::close(start[1]);
  std::set<std::string> cookies;
  for (auto& child : children) {
    cookies.insert(child.channel().read_line().value_or("nothing said"));
    EXPECT_EQ(child.wait(), processes::exited_with(0));
  }
  EXPECT_EQ(cookies.size(), 1u);
  EXPECT_EQ(cookies.begin()->size(), 64u);
}

TEST_F(cookie_file, lies_where_the_environment_says) {
  auto runtime =
      std::getenv("XDG_RUNTIME_DIR") ? std::optional<std::string>{std::getenv("XDG_RUNTIME_DIR")} : std::nullopt;
  ::setenv("XDG_RUNTIME_DIR", "/run/user/1", 1);
  EXPECT_EQ(default_cookie_file().value_or("none"), "/run/user/1/troupe/cookie");
  ::unsetenv("XDG_RUNTIME_DIR");
  if (const char* home = std::getenv("HOME")) {
    EXPECT_EQ(default_cookie_file().value_or("none"), std::string{home} + "/.config/troupe/cookie");
    const std::string before{home};
    ::setenv("HOME", "relative", 1);
    const auto nowhere = default_cookie_file();
    ASSERT_FALSE(nowhere);
    expect_contains(nowhere.error().message(),
                    "XDG_RUNTIME_DIR is not set, and HOME is not an absolute path (\"relative\"); set");
    ::setenv("HOME", before.c_str(), 1);
  }
  if (runtime)
    ::setenv("XDG_RUNTIME_DIR", runtime->c_str(), 1);
}

TEST_F(cookie_file, lets_the_processes_of_its_owner_in_and_nobody_else) {
  far_options_.listen = {"tcp://127.0.0.1:0"};
  far_options_.accepted_links.credentials.cookie_file = path_;
  connect(with_cookie(path_));
  auto other = near().home->connect(address_, with_cookie(folder_ / "another"));
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code(), node_errc::refused);
  raw_peer without{address_};
  without.greet();
  expect_contains(without.farewell(), "requires a shared secret");
}

TEST_F(cookie_file, serves_as_the_secret_file_of_another_host) {
  far_options_.listen = {"tcp://127.0.0.1:0"};
  far_options_.accepted_links.credentials.cookie_file = path_;
  link_options options;
  options.credentials.secret_file = path_;
  connect(options);
}

TEST_F(cookie_file, that_cannot_be_used_keeps_the_node_from_listening) {
  path_ = folder_ / "cookie";
  write(std::string(64, 'a'), 0644);
  far_options_.listen = {"tcp://127.0.0.1:0"};
  far_options_.accepted_links.credentials.cookie_file = path_;
  try {
    far();
    ADD_FAILURE() << "the node listens";
  } catch (const std::runtime_error& error) {
    expect_contains(error.what(), "chmod 600");
  }
}

TEST_F(cookie_file, a_secret_file_must_be_private_and_long_enough) {
  path_ = folder_ / "secret";
  write("a secret that is long enough\n", 0600);
  using secrets = std::vector<std::string>;
  EXPECT_EQ(read_secret_file(path_), secrets{"a secret that is long enough"});
  write("short\n", 0600);
  expect_contains(read_secret_file(path_).error().message(), "has 5 bytes, minimum 16");
  write("a secret that is long enough\n", 0644);
  expect_contains(read_secret_file(path_).error().message(), "chmod 600");
  expect_contains(read_secret_file(path_ + "x").error().message(), "cannot be read");
}

TEST_F(cookie_file, a_secret_file_has_one_or_two_lines) {
  path_ = folder_ / "secret";
  using secrets = std::vector<std::string>;
  write("the new secret, 16 bytes\r\n\nthe old secret, 16 bytes\n\n", 0600);
  EXPECT_EQ(read_secret_file(path_), (secrets{"the new secret, 16 bytes", "the old secret, 16 bytes"}));
  write("the new secret, 16 bytes\nthe old one\n", 0600);
  expect_contains(read_secret_file(path_).error().message(), "has a line of 11 bytes, minimum 16");
  write("the new secret, 16 bytes\nthe old secret, 16 bytes\nthe oldest one, 16 bytes\n", 0600);
  expect_contains(read_secret_file(path_).error().message(), "has 3 lines");
  write("\n\n", 0600);
  expect_contains(read_secret_file(path_).error().message(), "has 0 bytes");
  const std::string random = "0123456789abcdef\n0123456789abcdef\x01";
  write(random, 0600); // A key of random bytes, among them a newline.
  EXPECT_EQ(read_secret_file(path_), secrets{random});
}

} // namespace
} // namespace troupe::tests
