#include <troupe/framework/cluster/internal/watching/watch_list.hpp>

namespace troupe::cluster_directories {

namespace {

class watch_of_list final : public directory_watch {
public:
  watch_of_list(std::shared_ptr<watch_list> in, std::shared_ptr<watched> what)
      : list_(std::move(in)), watched_(std::move(what)) {}

  ~watch_of_list() override {
    if (!list_->is_of_this_process()) {
      // Not released: the destructors would touch what the parent's thread used at the fork.
      static_cast<void>(new std::shared_ptr<watch_list>{std::move(list_)});
      static_cast<void>(new std::shared_ptr<watched>{std::move(watched_)});
      return;
    }
    list_->remove(watched_);
    watched_->calls.stop();
  }

private:
  std::shared_ptr<watch_list> list_;
  std::shared_ptr<watched> watched_;
};

} // namespace

bool watch_list::add(const std::shared_ptr<watched>& watch) {
  const std::lock_guard guard{mutex_};
  if (is_closed_)
    return false;
  watches_.push_back(watch);
  return true;
}

void watch_list::remove(const std::shared_ptr<watched>& watch) {
  const std::lock_guard guard{mutex_};
  std::erase(watches_, watch);
}

void watch_list::end(const std::shared_ptr<watched>& watch, const directory_error& why) {
  remove(watch);
  watch->calls.end(why);
}

std::vector<std::shared_ptr<watched>> watch_list::all() const {
  const std::lock_guard guard{mutex_};
  return watches_;
}

void watch_list::close() {
  const std::lock_guard guard{mutex_};
  is_closed_ = true;
}

bool watch_list::is_closed() const {
  const std::lock_guard guard{mutex_};
  return is_closed_;
}

std::unique_ptr<directory_watch> listed_watch(std::shared_ptr<watch_list> in, std::shared_ptr<watched> what) {
  return std::make_unique<watch_of_list>(std::move(in), std::move(what));
}

directory_error compacted_error(std::uint64_t revision) {
  return {directory_errc::compacted, "the changes since revision " + std::to_string(revision)
                                         + " are no longer kept; list the entries, and watch from the listing's "
                                           "revision on"};
}

} // namespace troupe::cluster_directories
