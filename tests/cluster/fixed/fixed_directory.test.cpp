// Directories of kind static://, whose file changes.
#include <troupe/framework/cluster/internal/fixed/fixed_directory.hpp>
#include <troupe/framework/cluster/internal/fixed/member_file.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../../eventually.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>

#include <sys/stat.h>
#include <unistd.h>

namespace troupe::tests {

namespace {

using cluster_directories::open_fixed_directory;
using cluster_directories::read_members;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(member_file_test, comments_spaces_and_empty_lines_are_left_out) {
  EXPECT_THAT(read_members("# all\n\n  tcp://a:1 \t# first\r\ntls://b:2\n#tcp://c:3\nunix:///a#b", "f").value(),
              ElementsAre("tcp://a:1", "tls://b:2", "unix:///a#b"));
  EXPECT_THAT(read_members("", "f").value(), IsEmpty());
}

TEST(member_file_test, a_wrong_line_is_named_by_its_number) {
  const auto error = read_members("tcp://a:1\n\n# x\ntcp://a\n", "/etc/shop").error();
  EXPECT_EQ(error.code(), directory_errc::bad_address);
  EXPECT_THAT(error.message(), HasSubstr("\"/etc/shop\" is wrong in line 4: \"tcp://a\" needs a host and a port"));
  EXPECT_THAT(read_members("tcp://a:1\ntcp://b:1 tcp://c:1", "f").error().message(), HasSubstr("line 2"));
}

TEST(member_file_test, one_member_too_many_is_named_by_its_line) {
  std::string text;
  for (int each = 0; each < 1'024; ++each)
    text += "tcp://a:" + std::to_string(each + 1) + '\n';
  EXPECT_EQ(read_members(text, "f")->size(), 1'024u);
  EXPECT_THAT(read_members(text + "tcp://b:1", "f").error().message(), HasSubstr("line 1025"));
}

class fixed_directory_test : public ::testing::Test {
protected:
  fixed_directory_test() {
    std::string made = ::testing::TempDir() + "troupe-fixed-XXXXXX";
    folder_ = ::mkdtemp(made.data());
    file_ = folder_ / "members";
  }
  ~fixed_directory_test() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& text) const { std::ofstream{file_} << text; }
  [[nodiscard]] std::expected<std::shared_ptr<directory>, directory_error> open() {
    return open_fixed_directory(file_.string(), {.on_trouble = [this](const directory_error& trouble) {
                                  const std::lock_guard guard{mutex_};
                                  troubles_.push_back(trouble.message());
                                }});
  }
  [[nodiscard]] std::string last_trouble() {
    const std::lock_guard guard{mutex_};
    return troubles_.empty() ? "" : troubles_.back();
  }
  [[nodiscard]] std::size_t troubles() {
    const std::lock_guard guard{mutex_};
    return troubles_.size();
  }
  [[nodiscard]] static bool has(directory& of, const std::vector<std::string>& addresses) {
    std::vector<std::string> found;
    const auto listing = of.list("members/").value();
    for (const auto& entry : listing.entries)
      found.push_back(entry.key.substr(8));
    return found == addresses;
  }
  [[nodiscard]] directory_error error_of_open() {
    auto opened = open();
    return opened ? directory_error{directory_errc::none, ""} : opened.error();
  }

  std::filesystem::path folder_;
  std::filesystem::path file_;

private:
  std::mutex mutex_;
  std::vector<std::string> troubles_; // Guarded by mutex_.
};

TEST_F(fixed_directory_test, the_file_is_read_again_when_it_is_written_replaced_removed_or_made_again) {
  write("tcp://a:1\n");
  const auto opened = open().value();
  EXPECT_TRUE(has(*opened, {"tcp://a:1"}));
  write("tcp://a:1\ntcp://b:1\n");
  EXPECT_TRUE(eventually([&] { return has(*opened, {"tcp://a:1", "tcp://b:1"}); })) << "written";
  std::ofstream{folder_ / "new"} << "tcp://c:1\n";
  std::filesystem::rename(folder_ / "new", file_);
  EXPECT_TRUE(eventually([&] { return has(*opened, {"tcp://c:1"}); })) << "replaced";
  std::filesystem::remove(file_);
  EXPECT_TRUE(eventually([&] { return last_trouble().find("No such file") != std::string::npos; }));
  EXPECT_TRUE(has(*opened, {"tcp://c:1"})) << "removed: the last list stays";
  write("tcp://d:1\n");
  EXPECT_TRUE(eventually([&] { return has(*opened, {"tcp://d:1"}); })) << "made again";
}

TEST_F(fixed_directory_test, two_writes_in_quick_succession_are_both_seen) {
  write("tcp://a:1\n");
  const auto opened = open().value();
  for (int each = 2; each < 20; ++each) {
    write("tcp://a:" + std::to_string(each % 10) + "1\n");
    write("tcp://b:" + std::to_string(each % 10) + "1\n");
    EXPECT_TRUE(eventually([&] { return has(*opened, {"tcp://b:" + std::to_string(each % 10) + "1"}); })) << each;
  }
}

// Method: as Kubernetes replaces the files of a ConfigMap, by a symbolic link to another folder.
TEST_F(fixed_directory_test, a_symbolic_link_that_leads_elsewhere_is_followed) {
  const auto make = [&](const std::string& folder, const std::string& text) {
    std::filesystem::create_directory(folder_ / folder);
    std::ofstream{folder_ / folder / "members"} << text;
    std::filesystem::create_symlink(folder, folder_ / "data.new");
    std::filesystem::rename(folder_ / "data.new", folder_ / "data");
  };
  make("one", "tcp://a:1\n");
  std::filesystem::create_symlink("data/members", file_);
  const auto opened = open().value();
  make("two", "tcp://b:1\n");
  std::filesystem::remove_all(folder_ / "one");
  EXPECT_TRUE(eventually([&] { return has(*opened, {"tcp://b:1"}); }));
}

TEST_F(fixed_directory_test, a_bad_file_keeps_the_last_good_list_and_tells_it_once) {
  write("tcp://a:1\n");
  const auto opened = open().value();
  write("tcp://a:1\nnonsense\n");
  EXPECT_TRUE(eventually([&] { return last_trouble().find("line 2") != std::string::npos; }));
  EXPECT_TRUE(has(*opened, {"tcp://a:1"}));
  write("tcp://a:1\ntcp://b:1\n");
  EXPECT_TRUE(eventually([&] { return has(*opened, {"tcp://a:1", "tcp://b:1"}); }));
  EXPECT_EQ(troubles(), 1u);
}

TEST_F(fixed_directory_test, what_is_no_readable_list_is_refused_by_name) {
  EXPECT_EQ(error_of_open().code(), directory_errc::bad_address);
  EXPECT_THAT(error_of_open().message(), HasSubstr("No such file"));
  write("nonsense\n");
  EXPECT_EQ(error_of_open().code(), directory_errc::bad_address);
  write(std::string(1024 * 1024 + 1, '#'));
  EXPECT_EQ(error_of_open().code(), directory_errc::bad_address);
  EXPECT_THAT(error_of_open().message(), HasSubstr("more than 1048576 bytes"));
  std::filesystem::remove(file_);
  std::filesystem::create_directory(file_);
  EXPECT_EQ(error_of_open().code(), directory_errc::bad_address);
  std::filesystem::remove(file_);
  ASSERT_EQ(::mkfifo(file_.c_str(), 0600), 0);
  EXPECT_EQ(error_of_open().code(), directory_errc::bad_address);
  EXPECT_EQ(open_fixed_directory("", {}).error().code(), directory_errc::bad_address);
}

} // namespace

} // namespace troupe::tests
