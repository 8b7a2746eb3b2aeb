#include <troupe/framework/gateway/internal/access/guess_limit.hpp>

#include <utility>

namespace troupe::web {

bool guess_limit::note(const std::string& address, clock::time_point now) {
  if (const auto found = by_address_.find(address); found != by_address_.end()) {
    guessers_.splice(guessers_.begin(), guessers_, found->second);
    return guessers_.front().left.admit(now);
  }
  if (guessers_.size() >= addresses_max_) {
    by_address_.erase(guessers_.back().address);
    guessers_.pop_back();
  }
  guessers_.push_front({address, rate_limit{per_minute_ / 60, per_minute_}});
  by_address_.emplace(address, guessers_.begin());
  return guessers_.front().left.admit(now);
}

} // namespace troupe::web
