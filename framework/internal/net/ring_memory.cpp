#include <troupe/framework/internal/net/ring_memory.hpp>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <linux/magic.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <troupe/framework/internal/words/failing.hpp>
#include <troupe/framework/internal/words/text.hpp>

namespace troupe::internal {

namespace {

// For the words of both rings; the bytes of the first ring follow.
constexpr std::size_t words_bytes = 4096;
constexpr std::size_t second_words_at = words_bytes / 2;
static_assert(sizeof(ring_memory::words) <= second_words_at);

constexpr int needed_seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

std::string why() {
  return std::strerror(errno);
}

/// All mappings, so that the child of a fork does not write into its parent's rings.
struct mapped_memory {
  std::mutex mutex; // Held while memory is mapped, and while this process forks.
  std::vector<std::pair<std::byte*, std::size_t>> all;
};

// Never destroyed, because nodes may outlive main.
mapped_memory& mapped() {
  static auto* const kept = new mapped_memory;
  return *kept;
}

/// The child lacks this memory (MADV_DONTFORK). Puts private memory in its place.
void replace_in_child() {
  for (const auto& [base, bytes] : mapped().all)
    static_cast<void>(
        ::mmap(base, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0));
  mapped().mutex.unlock();
}

void replace_at_forks() {
  [[maybe_unused]] static const int once =
      ::pthread_atfork([] { mapped().mutex.lock(); }, [] { mapped().mutex.unlock(); }, replace_in_child);
}

/// Checks that the file is like those of make(). Touching another file's pages could fail.
std::expected<void, node_error> check(int descriptor, std::size_t total_bytes) {
  struct stat file {};
  struct statfs system {};
  if (::fstat(descriptor, &file) != 0 || ::fstatfs(descriptor, &system) != 0)
    return violation("the memory for rings cannot be looked at: " + why());
  if (!S_ISREG(file.st_mode) || system.f_type != TMPFS_MAGIC)
    return violation("the descriptor for rings is not one of shared memory");
  if (file.st_size < 0 || static_cast<std::uint64_t>(file.st_size) != total_bytes)
    return violation("the memory for rings has " + grouped(static_cast<std::uint64_t>(std::max<off_t>(file.st_size, 0)))
                     + " bytes, expected " + grouped(total_bytes));
  const int seals = ::fcntl(descriptor, F_GET_SEALS);
  if (seals < 0 || (seals & needed_seals) != needed_seals)
    return violation("the size of the memory for rings can still change: it is not sealed");
  return {};
}

} // namespace

bool is_ring_size(std::uint64_t bytes) noexcept {
  return bytes >= ring_bytes_min && bytes <= ring_bytes_max && std::has_single_bit(bytes);
}

std::size_t ring_memory::total_bytes(std::size_t ring_bytes) noexcept {
  return words_bytes + 2 * ring_bytes;
}

std::expected<ring_memory, node_error> ring_memory::make(std::size_t ring_bytes) {
  ring_memory made{::memfd_create("troupe-ring", MFD_CLOEXEC | MFD_ALLOW_SEALING), ring_bytes};
  if (made.descriptor_ < 0)
    return fail(node_errc::unsupported, "the system gives no memory for rings: " + why());
  const auto bytes = static_cast<off_t>(total_bytes(ring_bytes));
  if (::ftruncate(made.descriptor_, bytes) != 0 || ::fallocate(made.descriptor_, 0, 0, bytes) != 0
      || ::fcntl(made.descriptor_, F_ADD_SEALS, needed_seals) != 0)
    return fail(node_errc::unsupported,
                "the system gives no " + grouped(static_cast<std::uint64_t>(bytes)) + " bytes for rings: " + why());
  if (auto there = made.map(); !there)
    return std::unexpected{std::move(there).error()};
  new (made.base_) words;
  new (made.base_ + second_words_at) words;
  return made;
}

std::expected<ring_memory, node_error> ring_memory::adopt(int descriptor, std::size_t ring_bytes) {
  ring_memory theirs{descriptor, ring_bytes};
  if (auto good = check(descriptor, total_bytes(ring_bytes)); !good)
    return std::unexpected{std::move(good).error()};
  if (auto there = theirs.map(); !there)
    return std::unexpected{std::move(there).error()};
  ::close(theirs.take_descriptor());
  return theirs;
}

std::expected<void, node_error> ring_memory::map() {
  replace_at_forks();
  std::lock_guard guard{mapped().mutex};
  mapped().all.reserve(mapped().all.size() + 1);
  const auto bytes = total_bytes(ring_bytes_);
  void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
  if (at == MAP_FAILED)
    return fail(node_errc::unsupported, "the system does not map the memory for rings: " + why());
  base_ = static_cast<std::byte*>(at);
  static_cast<void>(::madvise(at, bytes, MADV_DONTFORK));
  mapped().all.emplace_back(base_, bytes);
  return {};
}

ring_memory::ring_memory(ring_memory&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      ring_bytes_(other.ring_bytes_),
      base_(std::exchange(other.base_, nullptr)) {}

ring_memory::~ring_memory() {
  if (descriptor_ >= 0)
    ::close(descriptor_);
  if (base_ == nullptr)
    return;
  std::lock_guard guard{mapped().mutex};
  std::erase_if(mapped().all, [this](const auto& each) { return each.first == base_; });
  ::munmap(base_, total_bytes(ring_bytes_));
}

int ring_memory::take_descriptor() noexcept {
  return std::exchange(descriptor_, -1);
}

ring_memory::words& ring_memory::words_of(link_side writer) const noexcept {
  auto* const at = base_ + (writer == link_side::dialer ? 0 : second_words_at);
  return *std::launder(reinterpret_cast<words*>(at)); // A peer's words may have any value.
}

std::span<std::byte> ring_memory::bytes_of(link_side writer) const noexcept {
  return {base_ + words_bytes + (writer == link_side::dialer ? 0 : ring_bytes_), ring_bytes_};
}

} // namespace troupe::internal
