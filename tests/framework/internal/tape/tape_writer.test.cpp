#include <troupe/framework/internal/tape/tape_writer.hpp>

#include <csignal>

#include <sys/resource.h>
#include <sys/stat.h>

#include <gtest/gtest.h>

#include "tape_support.hpp"

namespace troupe::internal {
namespace {

using tests::add;
using tests::content_of;
using tests::packet_of;
using tests::read_all;
using tests::scratch_folder;

std::expected<tape_writer, node_error> open_writer(tape_place place) {
  return tape_writer::open(std::move(place),
                           {.node = "a node", .software = "0.1.0", .started_at = 1'700'000'000'000'000'000});
}

std::size_t count(const std::vector<std::string>& of, std::string_view beginning) {
  return static_cast<std::size_t>(
      std::ranges::count_if(of, [&](const auto& each) { return each.starts_with(beginning); }));
}

/// Limits the size of files that this process writes, as a full disk does.
class small_disk {
public:
  explicit small_disk(std::uint64_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  small_disk(const small_disk&) = delete;
  small_disk& operator=(const small_disk&) = delete;
  ~small_disk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

private:
  rlimit before_{};
  void (*handler_)(int) = nullptr;
};

TEST(tape_writer, what_was_added_is_on_the_tape_in_order) {
  const scratch_folder folder;
  auto writer = open_writer({.file = folder.file("one.tape")});
  ASSERT_TRUE(writer) << writer.error().message();
  add(*writer, tape_link_began{.link = 1, .peer_name = "b"});
  add(*writer, packet_of(packet_kind::signature, "sig"));
  add(*writer, packet_of(packet_kind::message, "hello"));
  writer->close(9);
  EXPECT_EQ(read_all(content_of(folder.file("one.tape"))),
            (std::vector<std::string>{"by a node", "link 1 to b", ">1 kind 4: sig", ">1 kind 2: hello", "ended 1"}));
  EXPECT_EQ(writer->written_bytes(), content_of(folder.file("one.tape")).size());
}

TEST(tape_writer, what_was_flushed_is_on_the_tape_if_the_process_is_killed_then) {
  const scratch_folder folder;
  auto writer = open_writer({.file = folder.file("one.tape")});
  ASSERT_TRUE(writer);
  add(*writer, packet_of(packet_kind::message, "hello"));
  writer->flush(1);
  add(*writer, packet_of(packet_kind::message, "lost"));
  EXPECT_EQ(read_all(content_of(folder.file("one.tape"))), (std::vector<std::string>{"by a node", ">1 kind 2: hello"}));
}

TEST(tape_writer, a_tape_belongs_to_its_user_only) {
  const scratch_folder folder;
  const auto before = ::umask(0);
  auto writer = open_writer({.directory = folder.file("tapes")});
  ::umask(before);
  ASSERT_TRUE(writer);
  struct stat status {};
  ASSERT_EQ(::stat(writer->file_name().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  ASSERT_EQ(::stat(folder.file("tapes").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
}

TEST(tape_writer, an_existing_file_or_a_link_is_neither_overwritten_nor_followed) {
  const scratch_folder folder;
  std::ofstream{folder.file("there")} << "content";
  std::filesystem::create_symlink(folder.file("nowhere"), folder.file("link"));
  for (const auto* name : {"there", "link"}) {
    const auto refused = open_writer({.file = folder.file(name)});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), node_errc::bad_option);
  }
  EXPECT_EQ(tests::text_of(content_of(folder.file("there"))), "content");
  EXPECT_FALSE(std::filesystem::exists(folder.file("nowhere")));
}

TEST(tape_writer, places_that_cannot_be_are_refused_with_the_reason) {
  const scratch_folder folder;
  for (const auto& [place, why] : {std::pair{tape_place{}, "either a file or a directory"},
                                   {tape_place{.file = "a", .directory = "b"}, "either a file or a directory"},
                                   {tape_place{.file = folder.file("x"), .file_bytes_max = 100}, "at least 65,536"},
                                   {tape_place{.directory = folder.path(), .files_max = 0}, "at least one file"},
                                   {tape_place{.file = folder.file("no/x")}, "No such file"},
                                   {tape_place{.directory = folder.file("no/x")}, "cannot be made"}}) {
    const auto refused = open_writer(place);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message().find(why), std::string::npos) << refused.error().message();
  }
}

TEST(tape_writer, each_file_of_a_rotated_tape_repeats_what_is_in_force) {
  const scratch_folder folder;
  auto writer =
      open_writer({.directory = folder.path(), .file_bytes_max = tape_file_bytes_min, .codec = tape_codec::none});
  ASSERT_TRUE(writer);
  add(*writer, tape_link_began{.link = 1, .peer_name = "b"});
  add(*writer, packet_of(packet_kind::signature, "sig"));
  add(*writer, tape_actor_named{.link = 1, .number = 4, .name = "cup"});
  add(*writer, tape_link_began{.link = 2, .peer_name = "c"});
  add(*writer, tape_link_ended{.link = 2, .reason = "done"});
  for (int i = 0; i < 3; ++i) {
    add(*writer, packet_of(packet_kind::message, std::string(40'000, 'x')));
    writer->flush(0);
  }
  writer->close(9);
  const auto files = folder.files();
  ASSERT_EQ(files.size(), 3u);
  EXPECT_EQ(writer->files(), 3u);
  for (std::size_t i = 1; i < files.size(); ++i) {
    const auto read = read_all(content_of(files[i]));
    ASSERT_EQ(read.size(), 6u);
    EXPECT_EQ(read[0], "by a node");
    EXPECT_EQ(read[1], "again link 1 to b");
    EXPECT_EQ(read[2], "again >1 kind 4: sig");
    EXPECT_EQ(read[3], "actor 4 is cup");
    EXPECT_TRUE(read[4].starts_with(">1 kind 2: xxx"));
    EXPECT_EQ(read[5], i + 1 < files.size() ? "ended 2" : "ended 1");
  }
}

TEST(tape_writer, a_block_with_the_end_of_a_link_has_the_links_definitions_in_the_next_file) {
  const scratch_folder folder;
  auto writer =
      open_writer({.directory = folder.path(), .file_bytes_max = tape_file_bytes_min, .codec = tape_codec::none});
  ASSERT_TRUE(writer);
  add(*writer, packet_of(packet_kind::signature, "sig"));
  add(*writer, packet_of(packet_kind::message, std::string(40'000, 'x')));
  writer->flush(0);
  add(*writer, packet_of(packet_kind::message, std::string(40'000, 'x')));
  add(*writer, tape_link_ended{.link = 1, .reason = "done"});
  writer->close(0);
  const auto last = read_all(content_of(folder.files().back()));
  ASSERT_EQ(last.size(), 5u);
  EXPECT_EQ(last[1], "again >1 kind 4: sig");
  EXPECT_EQ(last[3], "link 1 ended: done");
}

TEST(tape_writer, the_oldest_files_are_removed_and_no_others) {
  const scratch_folder folder;
  std::ofstream{folder.file("zz-other.tape")} << "content";
  auto writer = open_writer(
      {.directory = folder.path(), .file_bytes_max = tape_file_bytes_min, .files_max = 2, .codec = tape_codec::none});
  ASSERT_TRUE(writer);
  for (int i = 0; i < 5; ++i) {
    add(*writer, packet_of(packet_kind::message, std::to_string(i) + std::string(40'000, 'x')));
    writer->flush(0);
  }
  writer->close(0);
  const auto files = folder.files();
  ASSERT_EQ(files.size(), 3u);
  EXPECT_EQ(files.back(), folder.file("zz-other.tape"));
  EXPECT_TRUE(read_all(content_of(files[0]))[1].starts_with(">1 kind 2: 3xx"));
  EXPECT_TRUE(read_all(content_of(files[1]))[1].starts_with(">1 kind 2: 4xx"));
}

TEST(tape_writer, a_single_file_ends_at_its_bound_and_says_what_it_does_not_have) {
  const scratch_folder folder;
  auto writer =
      open_writer({.file = folder.file("one.tape"), .file_bytes_max = tape_file_bytes_min, .codec = tape_codec::none});
  ASSERT_TRUE(writer);
  for (int i = 0; i < 4; ++i) {
    add(*writer, packet_of(packet_kind::message, std::string(40'000, 'x'), 7));
    writer->flush(0);
  }
  writer->close(0);
  const auto read = read_all(content_of(folder.file("one.tape")));
  ASSERT_EQ(read.size(), 4u);
  EXPECT_EQ(read[2], "dropped 1 packets, 1 messages, 40008 bytes, why 3");
  EXPECT_EQ(read[3], "ended 3");
  EXPECT_LE(content_of(folder.file("one.tape")).size(), tape_file_bytes_min);
  EXPECT_EQ(writer->lost().messages, 3u);
  EXPECT_EQ(writer->lost().bytes, 3u * 40'008);
  EXPECT_TRUE(writer->take_news()->find("has reached its bound of 65,536 bytes") != std::string::npos);
  EXPECT_FALSE(writer->take_news());
}

// Goal: a full disk costs the messages that it has no room for, and the tape says how many.
// Method: the system refuses to let files grow, and later lets them.
TEST(tape_writer, a_full_disk_costs_counted_messages_and_recording_goes_on_when_there_is_room) {
  const scratch_folder folder;
  auto writer = open_writer({.file = folder.file("one.tape"), .codec = tape_codec::none});
  ASSERT_TRUE(writer);
  add(*writer, tape_link_began{.link = 1, .peer_name = "b"});
  add(*writer, packet_of(packet_kind::message, "first"));
  writer->flush(0);
  const auto pause = static_cast<std::uint64_t>(tape_writer::pause_after_failure.count());
  {
    const small_disk full{content_of(folder.file("one.tape")).size() + 100};
    add(*writer, packet_of(packet_kind::signature, "sig"), 1);
    add(*writer, packet_of(packet_kind::message, std::string(1000, 'x'), 1), 1);
    writer->flush(1);
    EXPECT_TRUE(writer->take_news()->find("cannot be written: File too large") != std::string::npos);
    add(*writer, packet_of(packet_kind::message, std::string(1000, 'x'), 2), 2); // Lost without an attempt.
    writer->flush(pause / 2);
    add(*writer, packet_of(packet_kind::message, std::string(1000, 'x'), 3), pause + 1);
    writer->flush(pause + 1);
    EXPECT_FALSE(writer->take_news()) << "said once";
  }
  add(*writer, packet_of(packet_kind::message, "last"), 3 * pause);
  writer->flush(3 * pause);
  EXPECT_TRUE(writer->take_news()->find("can be written again") != std::string::npos);
  writer->close(3 * pause);
  const auto read = read_all(content_of(folder.file("one.tape")));
  EXPECT_EQ(read,
            (std::vector<std::string>{"by a node", "link 1 to b", ">1 kind 2: first", "by a node", "again link 1 to b",
                                      "again >1 kind 4: sig", "dropped 4 packets, 3 messages, 3035 bytes, why 2",
                                      ">1 kind 2: last", "ended 1"}));
  EXPECT_EQ(writer->lost().messages, 3u);
}

// Goal: no failed attempt loses what an earlier one has lost.
// Method: the disk has room for the counts of what was lost, but not for the messages that follow them.
TEST(tape_writer, a_disk_that_stays_full_costs_messages_that_are_all_counted) {
  const scratch_folder folder;
  auto writer = open_writer({.file = folder.file("one.tape"), .codec = tape_codec::none});
  ASSERT_TRUE(writer);
  add(*writer, tape_link_began{.link = 1, .peer_name = "b"});
  writer->flush(0);
  const auto pause = static_cast<std::uint64_t>(tape_writer::pause_after_failure.count());
  {
    const small_disk full{content_of(folder.file("one.tape")).size() + 600};
    for (std::uint64_t i = 0; i < 10; ++i) {
      add(*writer, packet_of(packet_kind::message, std::string(1000, 'x'), i), i * 2 * pause);
      writer->flush(i * 2 * pause);
    }
  }
  add(*writer, packet_of(packet_kind::message, "last"), 30 * pause);
  writer->flush(30 * pause);
  writer->close(30 * pause);
  EXPECT_EQ(count(read_all(content_of(folder.file("one.tape"))), "dropped 10 packets, 10 messages, 10080 bytes"), 1u);
  const auto news = writer->take_news();
  ASSERT_TRUE(news);
  EXPECT_NE(news->find("can be written again; 10 messages are missing on it"), std::string::npos) << *news;
}

TEST(tape_writer, small_files_keep_their_bound_and_are_filled) {
  for (const auto codec : {tape_codec::none, tape_codec::lz4}) {
    const scratch_folder folder;
    auto writer = open_writer(
        {.directory = folder.file("tapes"), .file_bytes_max = tape_file_bytes_min, .files_max = 100, .codec = codec});
    ASSERT_TRUE(writer);
    for (std::uint64_t i = 0; i < 200; ++i)
      add(*writer, packet_of(packet_kind::message, std::string(4'000, 'x')));
    writer->close(0);
    std::size_t messages = 0;
    std::size_t files = 0;
    for (const auto& each : std::filesystem::directory_iterator{folder.file("tapes")}) {
      EXPECT_LE(each.file_size(), tape_file_bytes_min);
      messages += count(read_all(content_of(each.path().string())), ">1 kind 2: xxx");
      ++files;
    }
    EXPECT_EQ(messages, 200u);
    EXPECT_LE(files, codec == tape_codec::none ? 20u : 1u);
  }
}

TEST(tape_writer, a_small_file_has_what_fits) {
  const scratch_folder folder;
  auto writer =
      open_writer({.file = folder.file("one.tape"), .file_bytes_max = tape_file_bytes_min, .codec = tape_codec::none});
  ASSERT_TRUE(writer);
  for (std::uint64_t i = 0; i < 200; ++i)
    add(*writer, packet_of(packet_kind::message, std::string(4'000, 'x')));
  writer->close(0);
  EXPECT_GE(count(read_all(content_of(folder.file("one.tape"))), ">1 kind 2: xxx"), 10u);
  EXPECT_LE(content_of(folder.file("one.tape")).size(), tape_file_bytes_min);
}

TEST(tape_writer, a_directory_in_which_others_could_replace_tapes_is_refused) {
  const scratch_folder folder;
  std::filesystem::create_directory(folder.file("real"));
  std::filesystem::create_directory_symlink(folder.file("real"), folder.file("link"));
  std::filesystem::create_directory(folder.file("shared"));
  std::filesystem::permissions(folder.file("shared"), std::filesystem::perms::all);
  std::ofstream{folder.file("plain")} << "content";
  for (const auto& [name, why] : {std::pair{"link", "is a symbolic link"},
                                  {"shared", "can be written by other users"},
                                  {"plain", "is no directory"}}) {
    const auto refused = open_writer({.directory = folder.file(name)});
    ASSERT_FALSE(refused) << name;
    EXPECT_NE(refused.error().message().find(why), std::string::npos) << refused.error().message();
  }
  std::filesystem::permissions(folder.file("shared"), std::filesystem::perms::all | std::filesystem::perms::sticky_bit);
  EXPECT_TRUE(open_writer({.directory = folder.file("shared")})) << "as in /tmp, others cannot remove the tapes";
}

TEST(tape_writer, an_umask_does_not_take_a_tape_from_its_user) {
  const scratch_folder folder;
  const auto before = ::umask(0777);
  auto writer = open_writer({.directory = folder.file("tapes")});
  ::umask(before);
  ASSERT_TRUE(writer);
  struct stat status {};
  ASSERT_EQ(::stat(writer->file_name().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  ASSERT_EQ(::stat(folder.file("tapes").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
}

TEST(tape_writer, large_records_go_into_blocks_within_the_bound) {
  const scratch_folder folder;
  auto writer = open_writer({.file = folder.file("one.tape"), .codec = tape_codec::none});
  ASSERT_TRUE(writer);
  const std::string large(packet_body_bytes_max, 'x');
  for (int i = 0; i < 20; ++i)
    add(*writer, packet_of(packet_kind::chunk, large));
  writer->close(0);
  EXPECT_EQ(count(read_all(content_of(folder.file("one.tape"))), ">1 kind 3: xxx"), 20u);
}

} // namespace
} // namespace troupe::internal
