#include <troupe/framework/internal/wire/transfers.hpp>

#include <troupe/framework/internal/words/failing.hpp>

#include <algorithm>
#include <new>
#include <string>
#include <utility>

#include <sys/mman.h>

#include <troupe/base/sizes.hpp>

namespace troupe::internal {

namespace {

constexpr std::size_t frame_alignment_bytes = 64;

} // namespace

/// Uninitialized memory, filled from front to back.
class transfers::buffer final : public frame_owner {
public:
  buffer(std::size_t size_bytes, std::shared_ptr<std::atomic<std::uint64_t>> living_bytes)
      : bytes_(allocate(size_bytes)), size_bytes_(size_bytes), living_bytes_(std::move(living_bytes)) {
    living_bytes_->fetch_add(size_bytes_, std::memory_order_relaxed);
  }
  buffer(const buffer&) = delete;
  buffer& operator=(const buffer&) = delete;
  ~buffer() override {
    living_bytes_->fetch_sub(size_bytes_, std::memory_order_relaxed);
    ::operator delete(bytes_, alignment_of(size_bytes_));
  }

  /// Whether there was memory for it. If false, the buffer must not be used.
  [[nodiscard]] bool allocated() const noexcept { return bytes_ != nullptr; }
  [[nodiscard]] std::size_t size_bytes() const noexcept { return size_bytes_; }
  [[nodiscard]] std::size_t missing_bytes() const noexcept { return size_bytes_ - filled_bytes_; }
  [[nodiscard]] bytes_view bytes() const noexcept { return {bytes_, size_bytes_}; }

  void append(bytes_view more) {
    const auto place = append_later(more.size());
    std::ranges::copy(more, place.begin());
  }
  /// Returns the place for the next bytes, for the caller to fill.
  [[nodiscard]] std::span<std::byte> append_later(std::size_t count) {
    return {bytes_ + std::exchange(filled_bytes_, filled_bytes_ + count), count};
  }

private:
  // The allocator maps larger buffers anew each time. With pages of this size that costs a tenth of the page faults.
  static constexpr std::size_t fresh_bytes = 32_MiB;
  static constexpr std::size_t large_page_bytes = 2_MiB;

  static std::align_val_t alignment_of(std::size_t size_bytes) noexcept {
    return std::align_val_t{size_bytes > fresh_bytes ? large_page_bytes : frame_alignment_bytes};
  }
  static std::byte* allocate(std::size_t size_bytes) {
    auto* const bytes = ::operator new(size_bytes, alignment_of(size_bytes), std::nothrow);
    if (bytes != nullptr && size_bytes > fresh_bytes) // The system may ignore this advice.
      static_cast<void>(::madvise(bytes, size_bytes, MADV_HUGEPAGE));
    return static_cast<std::byte*>(bytes);
  }

  std::byte* const bytes_;
  const std::size_t size_bytes_;
  const std::shared_ptr<std::atomic<std::uint64_t>> living_bytes_;
  std::size_t filled_bytes_ = 0;
};

/// Returns the chunk's buffer, which has room for it.
std::expected<std::shared_ptr<transfers::buffer>, node_error> transfers::find(const chunk_head& head, bool first,
                                                                              std::size_t chunk_bytes) {
  auto found = open_.find(head.transfer);
  if (first) {
    if (found != open_.end())
      return violation("transfer " + grouped(head.transfer) + " begins twice");
    if (head.total_bytes > limits_.frame_bytes_max)
      return violation("frame of " + grouped(head.total_bytes) + " bytes, limit " + grouped(limits_.frame_bytes_max));
    if (head.total_bytes > limits_.total_bytes_max - charged_bytes_ || open_.size() >= limits_.count_max)
      return violation("frames of " + grouped(charged_bytes_ + head.total_bytes) + " bytes in "
                       + grouped(open_.size() + 1) + " transfers without their message, limit "
                       + grouped(limits_.total_bytes_max) + " in " + grouped(limits_.count_max));
    auto into = std::make_shared<buffer>(static_cast<std::size_t>(head.total_bytes), living_bytes_);
    if (!into->allocated())
      return violation("no memory for a frame of " + grouped(head.total_bytes) + " bytes");
    charged_bytes_ += head.total_bytes;
    found = open_.emplace(head.transfer, std::move(into)).first;
  } else if (found == open_.end()) {
    return violation("chunk of transfer " + grouped(head.transfer) + ", which has not begun");
  }
  const auto& into = *found->second;
  if (chunk_bytes > into.missing_bytes() || (chunk_bytes == 0 && into.size_bytes() > 0))
    return violation("chunk of " + grouped(chunk_bytes) + " bytes for a transfer that misses "
                     + grouped(into.missing_bytes()));
  return found->second;
}

std::expected<void, node_error> transfers::add_chunk(const chunk_head& head, bool first, bytes_view bytes) {
  const auto into = find(head, first, bytes.size());
  if (!into)
    return std::unexpected{into.error()};
  (*into)->append(bytes);
  return {};
}

std::expected<chunk_place, node_error> transfers::begin_chunk(const chunk_head& head, bool first, bytes_view begin,
                                                              std::size_t chunk_bytes) {
  auto into = find(head, first, chunk_bytes);
  if (!into)
    return std::unexpected{std::move(into).error()};
  (*into)->append(begin);
  const auto rest = (*into)->append_later(chunk_bytes - begin.size());
  return chunk_place{rest, *std::move(into)};
}

std::expected<frame, node_error> transfers::claim(std::uint64_t number, std::uint64_t size_bytes) {
  auto found = open_.find(number);
  if (found == open_.end())
    return violation("a message names transfer " + grouped(number) + ", which has not begun");
  auto whole = found->second;
  if (whole->missing_bytes() > 0 || whole->size_bytes() != size_bytes)
    return violation("a message names transfer " + grouped(number) + " with " + grouped(size_bytes) + " bytes; it has "
                     + grouped(whole->size_bytes()) + " and misses " + grouped(whole->missing_bytes()));
  charged_bytes_ -= whole->size_bytes();
  open_.erase(found);
  auto bytes = whole->bytes();
  return frame{bytes, std::move(whole)};
}

void transfers::clear() {
  open_.clear();
  charged_bytes_ = 0;
}

} // namespace troupe::internal
