#include <troupe/framework/internal/lasting/repeated_requests.hpp>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

#include <troupe/framework/internal/trust/authentication.hpp>

namespace troupe::internal {

namespace {

caller_id random_caller() {
  const std::array numbers{random_number(), random_number()};
  caller_id made;
  static_assert(sizeof(numbers) == sizeof(made));
  std::memcpy(made.data(), numbers.data(), sizeof(made));
  return made;
}

} // namespace

repeated_requests::repeated_requests() : caller_(random_caller()) {}

std::uint64_t repeated_requests::add(kept request) {
  bytes_ += request.bytes;
  kept_.emplace(next_, std::move(request));
  return next_++;
}

repeated_requests::kept* repeated_requests::find(std::uint64_t number) {
  const auto found = kept_.find(number);
  return found == kept_.end() ? nullptr : &found->second;
}

const repeated_requests::kept* repeated_requests::find(std::uint64_t number) const {
  const auto found = kept_.find(number);
  return found == kept_.end() ? nullptr : &found->second;
}

std::optional<repeated_requests::kept> repeated_requests::take(std::uint64_t number) {
  auto taken = kept_.extract(number);
  if (taken.empty())
    return std::nullopt;
  bytes_ -= taken.mapped().bytes;
  return std::move(taken.mapped());
}

std::map<std::uint64_t, repeated_requests::kept> repeated_requests::take_all() {
  bytes_ = 0;
  return std::exchange(kept_, {});
}

std::vector<repeated_requests::kept> repeated_requests::take_stale(clock::time_point then, clock::time_point now) {
  std::vector<kept> stale;
  for (auto each = kept_.begin(); each != kept_.end();) {
    auto& request = each->second;
    // Not by lock(): if that reference became the last one, the actor would be destroyed here.
    const auto has_sender = request.sender && request.sender.get()->strong_refs.load() > 0;
    if (has_sender && !(request.deadline && *request.deadline < now) && !(request.sent_at && *request.sent_at < then)) {
      ++each;
      continue;
    }
    bytes_ -= request.bytes;
    stale.push_back(std::move(request));
    each = kept_.erase(each);
  }
  return stale;
}

request_identity repeated_requests::identity_of(std::uint64_t number, clock::time_point now) const {
  assert(kept_.contains(number));
  const auto& request = kept_.at(number);
  const auto age = request.sent_at ? std::chrono::ceil<std::chrono::microseconds>(now - *request.sent_at)
                                   : std::chrono::microseconds{0};
  return {.key = {.caller = caller_, .number = number},
          .settled_below = kept_.begin()->first,
          .age = request.sent_at ? std::max(age, std::chrono::microseconds{1}) : age};
}

} // namespace troupe::internal
