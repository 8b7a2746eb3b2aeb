#include <troupe/framework/internal/wire/transfers.hpp>

#include <troupe/framework/internal/words/failing.hpp>

#include <cstring>
#include <new>
#include <string>
#include <utility>

#include <troupe/base/sizes.hpp>

namespace troupe::internal {

namespace {

constexpr std::align_val_t frame_alignment{64};

} // namespace

/// Uninitialized memory that fills front to back.
class transfers::buffer final : public frame_owner {
public:
  buffer(std::size_t size_bytes, std::shared_ptr<std::atomic<std::uint64_t>> living_bytes)
      : bytes_(static_cast<std::byte*>(::operator new(size_bytes, frame_alignment, std::nothrow))),
        size_bytes_(size_bytes),
        living_bytes_(std::move(living_bytes)) {
    living_bytes_->fetch_add(size_bytes_, std::memory_order_relaxed);
  }
  buffer(const buffer&) = delete;
  buffer& operator=(const buffer&) = delete;
  ~buffer() override {
    living_bytes_->fetch_sub(size_bytes_, std::memory_order_relaxed);
    ::operator delete(bytes_, frame_alignment);
  }

  /// False when there is no memory for it; it must not be used then.
  [[nodiscard]] bool allocated() const noexcept { return bytes_ != nullptr; }
  [[nodiscard]] std::size_t size_bytes() const noexcept { return size_bytes_; }
  [[nodiscard]] std::size_t missing_bytes() const noexcept { return size_bytes_ - filled_bytes_; }
  [[nodiscard]] bytes_view bytes() const noexcept { return {bytes_, size_bytes_}; }

  void append(bytes_view more) {
    std::memcpy(bytes_ + filled_bytes_, more.data(), more.size());
    filled_bytes_ += more.size();
  }

private:
  std::byte* const bytes_;
  const std::size_t size_bytes_;
  const std::shared_ptr<std::atomic<std::uint64_t>> living_bytes_;
  std::size_t filled_bytes_ = 0;
};

std::expected<void, node_error> transfers::add_chunk(const chunk_head& head, bool first, bytes_view bytes) {
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
  auto& into = *found->second;
  if (bytes.size() > into.missing_bytes() || (bytes.empty() && into.size_bytes() > 0))
    return violation("chunk of " + grouped(bytes.size()) + " bytes for a transfer that misses "
                     + grouped(into.missing_bytes()));
  into.append(bytes);
  return {};
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
