// The files found below a folder, and their order.
#include <troupe/samples/wordcount/folder_walk.hpp>

#include "scratch_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <vector>

namespace wordcount::tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class walking : public testing::Test {
protected:
  std::vector<std::string> files_below(const std::string& folder) {
    auto walk = folder_walk::open(folder, [this](const std::string& problem) { problems_.push_back(problem); });
    if (!walk)
      throw std::runtime_error(walk.error());
    std::vector<std::string> found;
    while (const auto file = walk->next())
      found.push_back(file->path.substr(folder.size() + 1));
    last_ = walk->problems();
    return found;
  }

  std::vector<std::string> files() { return files_below(folder_.path().string()); }

  scratch_folder folder_;
  std::vector<std::string> problems_;
  read_problems last_;
};

TEST_F(walking, files_come_in_byte_order_with_folders_among_them) {
  for (const auto* name : {"b/2", "b/1", "c", "a", "B", "b.txt", "b/x/y"})
    folder_.write(name, "");
  EXPECT_THAT(files(), ElementsAre("B", "a", "b/1", "b/2", "b/x/y", "b.txt", "c"));
  EXPECT_THAT(problems_, IsEmpty());
}

TEST_F(walking, only_regular_files_are_found_and_links_are_not_followed) {
  folder_.write("file", "");
  folder_.write("folder/inner", "");
  std::filesystem::create_symlink("file", folder_.path() / "link");
  std::filesystem::create_symlink("nowhere", folder_.path() / "dangling");
  std::filesystem::create_directory_symlink("folder", folder_.path() / "linked_folder");
  std::filesystem::create_directory_symlink("..", folder_.path() / "folder" / "up");
  ASSERT_EQ(::mkfifo((folder_.path() / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(files(), ElementsAre("file", "folder/inner"));
  EXPECT_THAT(problems_, IsEmpty());
}

TEST_F(walking, the_folder_itself_may_be_named_by_a_link) {
  folder_.write("real/file", "");
  const auto link = folder_.path() / "link";
  std::filesystem::create_directory_symlink("real", link);
  EXPECT_THAT(files_below(link.string()), ElementsAre("file"));
}

TEST_F(walking, a_deep_tree_is_walked_to_its_end) {
  std::string name;
  for (int i = 0; i < 200; ++i)
    name += "d/";
  folder_.write(name + "file", "");
  EXPECT_EQ(files().size(), 1u);
}

TEST_F(walking, files_and_folders_without_permission_are_reported_and_left_out) {
  if (::geteuid() == 0)
    GTEST_SKIP() << "root may read everything";
  folder_.write("a", "");
  folder_.write("secret", "");
  folder_.write("secrets/inner", "");
  ::chmod((folder_.path() / "secret").c_str(), 0);
  ::chmod((folder_.path() / "secrets").c_str(), 0);
  EXPECT_THAT(files(), ElementsAre("a"));
  EXPECT_EQ(last_.unreadable, 2u);
  ::chmod((folder_.path() / "secrets").c_str(), 0700);
}

TEST_F(walking, what_is_no_folder_is_refused_by_name) {
  const auto file = folder_.write("file", "").string();
  const auto opened = folder_walk::open(file, {});
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error(), HasSubstr(file + ": Not a directory"));
}

TEST(printable, control_characters_are_not_shown) {
  EXPECT_EQ(printable("a\nb\x1b[2Jc\x7f"), "a?b?[2Jc?");
}

} // namespace
} // namespace wordcount::tests
