#include <troupe/framework/cluster/internal/etcd/etcd_watches.hpp>

#include <algorithm>
#include <map>
#include <random>
#include <utility>

namespace troupe::cluster_directories {

namespace {

using std::chrono::milliseconds;

directory_error closed_by_caller() {
  return {directory_errc::closed, "the directory was closed"};
}

/// Between attempts of one watch: 50 ms, doubled each time up to 2 s, of which a random half is left out so that nodes
/// do not come back all at once.
milliseconds pause_after(std::uint32_t losses) {
  static thread_local std::minstd_rand random{std::random_device{}()};
  const auto full = std::min<milliseconds::rep>(50LL << std::min(losses, 10u), 2'000);
  return milliseconds{full - static_cast<milliseconds::rep>(random() % static_cast<std::uint64_t>(full / 2))};
}

class etcd_watch final : public directory_watch {
public:
  etcd_watch(std::shared_ptr<etcd_watches> of, std::shared_ptr<watch_calls> calls)
      : of_(std::move(of)), calls_(std::move(calls)) {}
  ~etcd_watch() override {
    if (!of_->is_of_this_process()) // A thread of the parent may have been about to call a handler.
      return;
    calls_->stop();
    of_->wake();
  }

private:
  const std::shared_ptr<etcd_watches> of_;
  const std::shared_ptr<watch_calls> calls_;
};

} // namespace

etcd_watches::etcd_watches(std::shared_ptr<etcd_caller> caller, std::shared_ptr<cluster_pin> pin, std::string root,
                           curl_multi multi)
    : caller_(std::move(caller)), pin_(std::move(pin)), root_(std::move(root)), multi_(std::move(multi)) {}

std::expected<std::shared_ptr<etcd_watches>, directory_error>
etcd_watches::make(std::shared_ptr<etcd_caller> caller, std::shared_ptr<cluster_pin> pin, std::string root) {
  curl_multi multi{curl_multi_init()};
  if (multi == nullptr)
    return std::unexpected{directory_error{directory_errc::system_failure, "libcurl has no memory for watches"}};
  return std::shared_ptr<etcd_watches>{
      new etcd_watches{std::move(caller), std::move(pin), std::move(root), std::move(multi)}};
}

std::expected<std::unique_ptr<directory_watch>, directory_error>
etcd_watches::add(std::string_view prefix, std::uint64_t first_revision, directory_watch_handlers handlers) {
  auto calls = std::make_shared<watch_calls>(std::move(handlers));
  {
    const std::lock_guard guard{mutex_};
    if (is_closed_)
      return std::unexpected{closed_by_caller()};
    if (auto started = thread_.start([self = shared_from_this()] { self->run(); }); !started)
      return std::unexpected{std::move(started).error()};
    added_.push_back(std::make_unique<watch_stream>(multi_.get(), *caller_, *pin_, root_, root_ + std::string{prefix},
                                                    std::max<std::uint64_t>(first_revision, 1), calls));
  }
  wake();
  return std::make_unique<etcd_watch>(shared_from_this(), std::move(calls));
}

void etcd_watches::wake() {
  curl_multi_wakeup(multi_.get());
}

void etcd_watches::end_all(const directory_error& why) {
  {
    const std::lock_guard guard{mutex_};
    end_all_ = why;
  }
  wake();
}

void etcd_watches::close() {
  if (!caller_->is_of_this_process())
    return;
  {
    const std::lock_guard guard{mutex_};
    is_closed_ = true;
  }
  wake();
  thread_.join();
}

void etcd_watches::run() {
  while (take_orders()) {
    for (auto& watch : watches_)
      connect(watch);
    exchange();
    std::erase_if(watches_, [](const followed& watch) { return watch.stream->calls().is_over(); });
    curl_multi_poll(multi_.get(), nullptr, 0, static_cast<int>(time_to_wait().count()), nullptr);
  }
  end_streams(closed_by_caller());
}

bool etcd_watches::take_orders() {
  std::optional<directory_error> why;
  {
    const std::lock_guard guard{mutex_};
    for (auto& each : added_)
      watches_.push_back({.stream = std::move(each), .connects_at = clock::now()});
    added_.clear();
    if (is_closed_)
      return false;
    why = std::exchange(end_all_, std::nullopt);
  }
  if (why)
    end_streams(*why);
  return true;
}

void etcd_watches::end_streams(const directory_error& why) {
  for (auto& watch : watches_)
    watch.stream->calls().end(why);
  watches_.clear();
}

void etcd_watches::exchange() {
  int running = 0;
  curl_multi_perform(multi_.get(), &running);
  std::map<const CURL*, CURLcode> results;
  int left = 0;
  while (const auto* message = curl_multi_info_read(multi_.get(), &left))
    if (message->msg == CURLMSG_DONE)
      results[message->easy_handle] = message->data.result;
  for (auto& watch : watches_) {
    const auto done = results.find(watch.stream->transfer());
    look_after(watch, done == results.end() ? std::nullopt : std::optional{done->second});
  }
}

void etcd_watches::look_after(followed& watch, std::optional<CURLcode> result) {
  auto& stream = *watch.stream;
  if (!stream.is_connected())
    return;
  const auto was_created = stream.is_created();
  const auto done = stream.read(result);
  if (done == watch_stream::outcome::lost
      || (done == watch_stream::outcome::goes_on && clock::now() >= stream.silent_until())) {
    lose(watch);
    return;
  }
  if (stream.is_created() && !was_created) {
    watch.losses = 0;
    caller_->places().prefer(stream.endpoint());
  }
}

bool etcd_watches::has_to_move(const followed& watch) const {
  return watch.stream->is_created() && watch.stream->endpoint() != caller_->places().current();
}

void etcd_watches::connect(followed& watch) {
  auto& stream = *watch.stream;
  const auto good = caller_->places().current();
  const auto is_due = watch.connects_at && *watch.connects_at <= clock::now();
  if (!is_due && !has_to_move(watch))
    return;
  watch.connects_at.reset();
  if (!stream.connect((good + watch.losses) % caller_->places().count()))
    lose(watch);
}

void etcd_watches::lose(followed& watch) {
  // The first attempt follows at once, at the next endpoint.
  caller_->note_trouble();
  watch.stream->disconnect();
  watch.connects_at = clock::now() + (watch.losses == 0 ? milliseconds{0} : pause_after(watch.losses));
  ++watch.losses;
}

milliseconds etcd_watches::time_to_wait() const {
  auto next = clock::now() + std::chrono::minutes{1};
  for (const auto& watch : watches_)
    next = std::min(next, has_to_move(watch) ? clock::now() : watch.connects_at.value_or(watch.stream->silent_until()));
  return std::max(std::chrono::ceil<milliseconds>(next - clock::now()), milliseconds{0});
}

} // namespace troupe::cluster_directories
