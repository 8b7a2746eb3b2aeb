#include <troupe/framework/gateway/internal/view/kept_activity.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace troupe::web {

namespace {

/// Puts the older ones before the new ones, and leaves the last `most`.
template <class Event>
void join(std::vector<Event>& now, std::vector<Event>& before, std::size_t most) {
  before.insert(before.end(), std::make_move_iterator(now.begin()), std::make_move_iterator(now.end()));
  if (before.size() > most)
    before.erase(before.begin(), before.end() - static_cast<std::ptrdiff_t>(most));
  now = std::move(before);
}

} // namespace

void kept_activity::take(std::vector<viewed_activity> answers) {
  for (auto& each : answers) {
    const auto known = std::ranges::find(all_, each.key, &viewed_activity::key);
    if (known == all_.end())
      continue;
    each.now.letters_lost += known->now.letters_lost;
    each.now.spans_lost += known->now.spans_lost;
    join(each.now.letters, known->now.letters, letters_max);
    join(each.now.spans, known->now.spans, spans_max);
  }
  all_ = std::move(answers);
}

} // namespace troupe::web
