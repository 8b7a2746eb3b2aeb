#include <troupe/framework/internal/net/io_loops.hpp>

#include <algorithm>
#include <cassert>
#include <mutex>
#include <thread>
#include <utility>

namespace troupe::internal {

namespace {

using work = asio::executor_work_guard<asio::io_context::executor_type>;

} // namespace

std::size_t loops_for(std::size_t io_threads) {
  constexpr std::size_t least = 1;
  if (io_threads == 0)
    io_threads = std::thread::hardware_concurrency(); // 0 if unknown.
  return std::clamp(io_threads, least, io_loops::loops_max);
}

/// The number of links of each loop. Threads: any.
class io_loops::seats {
public:
  explicit seats(std::size_t loops) : taken_(loops) {}

  /// Picks the loop with the fewest links; if there are several, the last, because the first one has more other work.
  [[nodiscard]] std::size_t take() {
    std::lock_guard guard{mutex_};
    auto fewest = taken_.size() - 1;
    for (auto each = fewest; each-- > 0;)
      if (taken_[each] < taken_[fewest])
        fewest = each;
    ++taken_[fewest];
    return fewest;
  }
  void leave(std::size_t loop) {
    std::lock_guard guard{mutex_};
    --taken_[loop];
  }
  [[nodiscard]] std::vector<std::size_t> taken() const {
    std::lock_guard guard{mutex_};
    return taken_;
  }

private:
  mutable std::mutex mutex_;
  std::vector<std::size_t> taken_; // Guarded by mutex_.
};

struct io_loops::taken_seat {
  taken_seat(std::shared_ptr<seats> all, std::size_t loop, asio::io_context& io, asio::io_context& main)
      : of(std::move(all)), which(loop), own(io.get_executor()), main_one(main.get_executor()) {}
  taken_seat(const taken_seat&) = delete;
  taken_seat& operator=(const taken_seat&) = delete;
  ~taken_seat() { of->leave(which); }

  const std::shared_ptr<seats> of;
  const std::size_t which;
  const work own;
  const work main_one;
};

io_loops::io_loops(const std::shared_ptr<loop_host>& host, const std::string& owner, const dispatch_budget& budget,
                   std::size_t count)
    : seats_(std::make_shared<seats>(count)) {
  assert(count >= 1);
  assert(count <= loops_max);
  for (std::size_t i = 0; i < count; ++i)
    loops_.push_back(std::make_shared<io_loop>(host, owner, budget));
}

io_loops::~io_loops() = default;

std::expected<void, node_error> io_loops::start(const std::function<void()>& on_takeover) {
  for (auto next = loops_.rbegin(); next != loops_.rend(); ++next)
    if (auto started = (*next)->start(on_takeover); !started) {
      std::for_each(loops_.rbegin(), next, [](const auto& each) { each->stop(); });
      return started;
    }
  return {};
}

void io_loops::stop() {
  for (auto next = loops_.rbegin(); next != loops_.rend(); ++next)
    (*next)->stop();
}

loop_seat io_loops::seat_for_link() {
  const auto which = seats_->take();
  auto& io = loops_[which]->context();
  return {io, std::make_shared<const taken_seat>(seats_, which, io, main())};
}

std::vector<std::size_t> io_loops::links() const {
  return seats_->taken();
}

} // namespace troupe::internal
