// Memory for rings, made by this node or by a peer that may be dishonest.
#include <troupe/framework/internal/net/ring_memory.hpp>

#include <string>

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace troupe::internal {
namespace {

constexpr std::size_t ring_bytes = 4096;
constexpr int all_seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

/// Makes a file as a peer does, with the given size and seals.
int file_of(std::size_t bytes, int seals, unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING) {
  const int made = ::memfd_create("test", flags);
  EXPECT_GE(made, 0);
  EXPECT_EQ(::ftruncate(made, static_cast<off_t>(bytes)), 0);
  EXPECT_EQ(::fcntl(made, F_ADD_SEALS, seals), 0);
  return made;
}

std::string refusal_of(int descriptor) {
  const auto adopted = ring_memory::adopt(descriptor, ring_bytes);
  EXPECT_EQ(::fcntl(descriptor, F_GETFD), -1) << "it is still open";
  if (adopted)
    return "adopted";
  EXPECT_EQ(adopted.error().code(), node_errc::protocol_violation);
  return adopted.error().message();
}

TEST(memory_for_rings, is_the_same_at_both_ends) {
  auto made = ring_memory::make(ring_bytes);
  ASSERT_TRUE(made) << made.error().message();
  const auto theirs = ring_memory::adopt(made->take_descriptor(), ring_bytes);
  ASSERT_TRUE(theirs) << theirs.error().message();
  made->bytes_of(link_side::dialer)[7] = std::byte{42};
  EXPECT_EQ(theirs->bytes_of(link_side::dialer)[7], std::byte{42});
  EXPECT_EQ(theirs->bytes_of(link_side::acceptor)[7], std::byte{0});
  made->words_of(link_side::acceptor).written.store(5);
  EXPECT_EQ(theirs->words_of(link_side::acceptor).written.load(), 5u);
  EXPECT_EQ(theirs->words_of(link_side::dialer).written.load(), 0u);
}

TEST(memory_for_rings, takes_what_it_says) {
  auto made = ring_memory::make(ring_bytes);
  ASSERT_TRUE(made);
  const auto descriptor = made->take_descriptor();
  EXPECT_EQ(::lseek(descriptor, 0, SEEK_END), static_cast<off_t>(ring_memory::total_bytes(ring_bytes)));
  EXPECT_EQ(::fcntl(descriptor, F_GET_SEALS) & all_seals, all_seals);
  EXPECT_EQ(made->bytes_of(link_side::dialer).size(), ring_bytes);
  ::close(descriptor);
}

TEST(memory_for_rings, of_a_peer_has_a_sealed_size) {
  const auto total = ring_memory::total_bytes(ring_bytes);
  EXPECT_EQ(refusal_of(file_of(total, all_seals)), "adopted");
  for (const auto missing : {F_SEAL_SHRINK, F_SEAL_GROW, F_SEAL_SEAL})
    EXPECT_NE(refusal_of(file_of(total, all_seals & ~missing)).find("not sealed"), std::string::npos);
}

TEST(memory_for_rings, of_a_peer_has_the_size_that_was_said) {
  const auto total = ring_memory::total_bytes(ring_bytes);
  for (const auto bytes : {total - 1, total + 1, std::size_t{0}})
    EXPECT_NE(refusal_of(file_of(bytes, all_seals)).find("expected 12,288"), std::string::npos);
}

TEST(memory_for_rings, of_a_peer_is_a_file_of_memory) {
  EXPECT_NE(refusal_of(::open("/dev/zero", O_RDWR | O_CLOEXEC)).find("not one of shared memory"), std::string::npos);
  int ends[2] = {-1, -1};
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  EXPECT_NE(refusal_of(ends[0]).find("not one of shared memory"), std::string::npos);
  ::close(ends[1]);
}

TEST(memory_for_rings, of_a_peer_can_be_written) {
  const auto descriptor = file_of(ring_memory::total_bytes(ring_bytes), F_SEAL_WRITE | all_seals);
  const auto adopted = ring_memory::adopt(descriptor, ring_bytes);
  ASSERT_FALSE(adopted);
  EXPECT_EQ(adopted.error().code(), node_errc::unsupported);
}

TEST(memory_for_rings, is_not_written_by_the_child_of_a_fork) {
  auto made = ring_memory::make(ring_bytes);
  ASSERT_TRUE(made);
  auto* const at = &made->bytes_of(link_side::dialer)[0];
  *at = std::byte{1};
  const auto child = ::fork();
  if (child == 0) {
    const auto was_there = *at == std::byte{1};
    *at = std::byte{2};
    ::_exit(was_there ? 1 : 0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_EQ(*at, std::byte{1});
}

TEST(memory_for_rings, has_sizes_that_are_powers_of_two) {
  EXPECT_TRUE(is_ring_size(4096));
  EXPECT_TRUE(is_ring_size(16 * 1024 * 1024));
  for (const std::uint64_t bytes : {0, 1, 2048, 4095, 4097, 12'288, 32 * 1024 * 1024})
    EXPECT_FALSE(is_ring_size(bytes)) << bytes;
}

} // namespace
} // namespace troupe::internal
