#include <troupe/framework/internal/flow/understated_memory.hpp>

#include <atomic>

namespace troupe::internal {

class understated_memory::account final : public consumption {
public:
  account() : consumption(0, nullptr) {}

  void consumed(std::uint64_t cost) noexcept override { living_bytes_.fetch_sub(cost, std::memory_order_relaxed); }

  void add(std::uint64_t bytes) noexcept { living_bytes_.fetch_add(bytes, std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t living_bytes() const noexcept { return living_bytes_.load(std::memory_order_relaxed); }

private:
  std::atomic<std::uint64_t> living_bytes_{0};
};

understated_memory::understated_memory(std::uint64_t bytes_max) : bytes_max_(bytes_max), account_(new account) {}

understated_memory::~understated_memory() = default;

std::optional<receipt> understated_memory::admit(std::uint64_t bytes) {
  if (account_->living_bytes() >= bytes_max_)
    return std::nullopt;
  account_->add(bytes);
  return account_->issue(bytes);
}

std::uint64_t understated_memory::living_bytes() const noexcept {
  return account_->living_bytes();
}

} // namespace troupe::internal
