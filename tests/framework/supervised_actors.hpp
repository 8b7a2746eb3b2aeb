// Actors to supervise, and what a test sees of their supervisor.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <caf/all.hpp>

#include <troupe/framework/supervise.hpp>

#include "../eventually.hpp"

namespace troupe::tests {

using namespace std::chrono_literals;

struct tally_state {
  int sum = 0;
};

/// Adds numbers to its first one. "crash", "end", "throw" and "drop" end it in these ways, "drop" without an answer.
inline caf::behavior tally(caf::stateful_actor<tally_state>* self, int first) {
  self->state.sum = first;
  return {[self](int value) { return self->state.sum += value; },
          [self](const std::string& how) -> caf::result<int> {
            if (how == "end")
              self->quit();
            else if (how == "crash")
              self->quit(to_caf_error({node_errc::task_failed, "crashed"}));
            else if (how == "throw")
              throw std::runtime_error("thrown");
            else if (how == "drop") {
              self->quit(to_caf_error({node_errc::task_failed, "dropped"}));
              return self->make_response_promise<int>();
            }
            return 0;
          }};
}

/// Keeps the events of a supervisor. Copies share them.
class event_record {
public:
  [[nodiscard]] supervisor_events sink() const {
    return {.callback = [kept = kept_](const supervisor_event& event) {
      const std::lock_guard guard{kept->mutex};
      kept->events.push_back(event);
    }};
  }
  [[nodiscard]] std::vector<supervisor_event> all() const {
    const std::lock_guard guard{kept_->mutex};
    return kept_->events;
  }
  [[nodiscard]] std::vector<supervisor_event> of(supervisor_event::kind what) const {
    auto some = all();
    std::erase_if(some, [&](const supervisor_event& one) { return one.what != what; });
    return some;
  }
  [[nodiscard]] std::size_t count(supervisor_event::kind what) const { return of(what).size(); }
  /// "+a" for a start, "-a" for an end, "!a" for a failed start.
  [[nodiscard]] std::string lives() const {
    std::string text;
    for (const auto& one : all())
      if (one.what == supervisor_event::kind::child_started)
        text += '+' + one.name;
      else if (one.what == supervisor_event::kind::child_ended)
        text += (one.is_failed_start ? '!' : '-') + one.name;
    return text;
  }
  [[nodiscard]] bool comes_to(const std::string& lives_) const {
    return eventually([&] { return lives() == lives_; });
  }

private:
  struct kept {
    std::mutex mutex;
    std::vector<supervisor_event> events;
  };
  const std::shared_ptr<kept> kept_ = std::make_shared<kept>(); // Actors may outlive the test.
};

/// The child of that position, once it runs for at least the given time.
inline caf::actor child_of(const team& whole, std::size_t which, std::size_t starts = 1) {
  caf::actor found;
  (void)eventually([&] {
    const auto now = whole.children()[which];
    if (now.starts >= starts)
      found = now.handle;
    return static_cast<bool>(found);
  });
  return found;
}

inline bool all_run(const team& whole) {
  return eventually([&] { return std::ranges::all_of(whole.children(), &child_status::is_running); });
}

} // namespace troupe::tests
