// The secrets of an end, read again from their files.
#include <troupe/framework/internal/trust/secret_book.hpp>

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

namespace troupe::internal {
namespace {

const std::string old_secret = "the old secret, 16 bytes";
const std::string new_secret = "the new secret, 16 bytes";
const std::string workers_secret = "the secret of the workers";

class a_secret_book : public testing::Test {
protected:
  a_secret_book() {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directory(folder_);
  }
  ~a_secret_book() override { std::filesystem::remove_all(folder_); }

  /// Puts a file with these lines in the place of that name.
  std::string write(const std::string& name, const std::string& lines) {
    const auto path = folder_ / name;
    const auto beside = folder_ / (name + ".new");
    std::ofstream{beside} << lines;
    std::filesystem::permissions(beside, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    std::filesystem::rename(beside, path);
    return path;
  }

  std::string why_not(const credentials& with, const std::vector<peer_role>& roles = {}) {
    const auto opened = secret_book::open(with, roles);
    return opened ? "opened" : opened.error().message();
  }

  const std::filesystem::path folder_ = testing::TempDir() + "troupe-secrets-" + std::to_string(::getpid());
  using secrets = std::vector<known_secret>;
};

TEST_F(a_secret_book, is_empty_without_a_secret) {
  const auto book = secret_book::open({});
  ASSERT_TRUE(book);
  EXPECT_TRUE((*book)->is_empty());
  EXPECT_EQ((*book)->now(), secrets{});
}

TEST_F(a_secret_book, has_what_its_files_have_now) {
  const auto file = write("secret", old_secret + '\n');
  const auto book = *secret_book::open({.secret_file = file});
  EXPECT_EQ(book->now(), (secrets{{old_secret}}));
  write("secret", old_secret + '\n' + new_secret + '\n');
  EXPECT_EQ(book->now(), (secrets{{old_secret}, {new_secret}}));
  write("secret", new_secret + '\n');
  EXPECT_EQ(book->now(), (secrets{{new_secret}})); // The old one is not accepted any more.
}

TEST_F(a_secret_book, keeps_what_it_has_read_while_a_file_is_wrong_and_says_so_once) {
  const auto file = write("secret", old_secret + '\n');
  const auto book = *secret_book::open({.secret_file = file});
  testing::internal::CaptureStderr();
  write("secret", "short\n");
  EXPECT_EQ(book->now(), (secrets{{old_secret}}));
  EXPECT_EQ(book->now(), (secrets{{old_secret}}));
  const auto said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("minimum 16"), std::string::npos) << said;
  EXPECT_EQ(said.find("minimum 16"), said.rfind("minimum 16")) << said;
  std::filesystem::remove(file);
  EXPECT_EQ(book->now(), (secrets{{old_secret}}));
  write("secret", new_secret + '\n');
  EXPECT_EQ(book->now(), (secrets{{new_secret}}));
}

TEST_F(a_secret_book, has_the_secrets_of_roles_with_their_names) {
  const auto file = write("workers", workers_secret + '\n' + old_secret + '\n');
  const auto book =
      *secret_book::open({.secret = new_secret}, std::vector<peer_role>{{.name = "here", .same_user = true},
                                                                        {.name = "worker", .secret_file = file}});
  EXPECT_EQ(book->now(), (secrets{{new_secret}, {workers_secret, "worker"}, {old_secret, "worker"}}));
}

TEST_F(a_secret_book, does_not_open_with_a_secret_that_gives_two_roles) {
  const std::vector<peer_role> roles{{.name = "worker", .secret_file = write("workers", workers_secret)},
                                     {.name = "ops", .secret_file = write("ops", workers_secret)}};
  EXPECT_NE(why_not({}, roles).find("the role \"worker\" and the role \"ops\" have the same secret"), std::string::npos)
      << why_not({}, roles);
  EXPECT_NE(why_not({.secret = workers_secret}, std::vector{roles[0]}).find("credentials and the role \"worker\""),
            std::string::npos);
  EXPECT_EQ(why_not({}, std::vector{roles[0]}), "opened");
}

// Goal: a mistake in a file never admits anybody with more rights, and never everybody.
TEST_F(a_secret_book, accepts_no_secret_that_has_come_to_give_two_roles) {
  const auto file = write("workers", workers_secret);
  const auto common = write("common", old_secret);
  const auto book =
      *secret_book::open({.secret_file = common}, std::vector<peer_role>{{.name = "worker", .secret_file = file}});
  write("common", old_secret + '\n' + workers_secret);
  EXPECT_EQ(book->now(), (secrets{{old_secret}}));
  write("common", workers_secret);
  const auto left = book->now();
  ASSERT_EQ(left.size(), 1u);
  EXPECT_NE(left[0].secret, workers_secret);
  EXPECT_EQ(left[0].secret.size(), 64u); // Random.
  write("common", old_secret);
  EXPECT_EQ(book->now(), (secrets{{old_secret}, {workers_secret, "worker"}}));
}

} // namespace
} // namespace troupe::internal
