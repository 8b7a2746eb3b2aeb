// Explores every order in which the steps of a few agents can follow each other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <ucontext.h>

namespace troupe::tests {

/// Runs agents, which are plain functions, one step at a time; a step ends where the agent calls yield(). explore()
/// repeats the run once per order, until all orders with at most `preemptions_max` preemptions have been tried. A
/// preemption is a switch away from an agent that could have continued (after Musuvathi and Qadeer, "Iterative context
/// bounding", 2007).
///
/// Threads: one.
class interleavings {
public:
  /// Calls `reset` before each run to set the agents' surroundings up again.
  explicit interleavings(std::function<void()> reset) : reset_(std::move(reset)) {}

  void add(std::function<void()> what) { agents_.push_back({.run = std::move(what)}); }

  /// Adds a background agent, such as memory that is written late. It never ends, and a run may end without it.
  /// `can_go_on` decides whether it can take a step.
  void add_background(std::function<void()> what, std::function<bool()> can_go_on) {
    agents_.push_back({.run = std::move(what), .can_go_on = std::move(can_go_on), .is_background = true});
  }

  /// Called within an agent: lets other agents run first.
  static void yield() {
    if (auto* const self = current_)
      self->leave();
  }
  /// Called within an agent: continues once `so` returns true.
  static void wait_until(std::function<bool()> so) {
    auto& self = *current_;
    self.agents_[self.running_].can_go_on = std::move(so);
    self.leave();
    self.agents_[self.running_].can_go_on = nullptr;
  }
  /// Returns the index of the running agent.
  [[nodiscard]] static std::size_t running() { return current_->running_; }

  struct outcome {
    std::uint64_t orders = 0;
    std::uint64_t stuck = 0; // The number of orders in which agents waited for ever.
  };
  [[nodiscard]] outcome explore(std::size_t preemptions_max) {
    outcome result;
    choices_.clear();
    do {
      result.stuck += run_once(preemptions_max) ? 0 : 1;
      ++result.orders;
    } while (next_order());
    return result;
  }

private:
  struct agent {
    std::function<void()> run;
    std::function<bool()> can_go_on = nullptr; // Null if the agent can always continue.
    bool is_background = false;
    bool is_over = false;
    ucontext_t context = {};
    std::unique_ptr<std::byte[]> stack = std::make_unique<std::byte[]>(stack_bytes);
  };
  struct choice {
    std::size_t taken;
    std::size_t count;
  };
  static constexpr std::size_t stack_bytes = 256 * 1024;
  static constexpr auto nobody = SIZE_MAX;

  static void enter() {
    auto& self = *current_;
    auto& mine = self.agents_[self.running_];
    mine.run();
    mine.is_over = true;
    self.leave();
  }

  void leave() { swapcontext(&agents_[running_].context, &scheduler_); }

  /// Returns false if agents were left that wait for ever.
  bool run_once(std::size_t preemptions_max) {
    reset_();
    current_ = this;
    for (auto& each : agents_) {
      each.is_over = false;
      if (!each.is_background)
        each.can_go_on = nullptr;
      getcontext(&each.context);
      each.context.uc_stack.ss_sp = each.stack.get();
      each.context.uc_stack.ss_size = stack_bytes;
      each.context.uc_link = nullptr;
      makecontext(&each.context, &interleavings::enter, 0);
    }
    std::size_t position = 0;
    std::size_t preemptions = 0;
    running_ = nobody;
    while (!all_over()) {
      std::vector<std::size_t> able;
      for (std::size_t i = 0; i < agents_.size(); ++i)
        if (!agents_[i].is_over && (!agents_[i].can_go_on || agents_[i].can_go_on()))
          able.push_back(i);
      if (able.empty())
        break;
      const auto goes_on = std::ranges::find(able, running_) != able.end();
      if (goes_on) { // First in the list, since continuing costs no preemption.
        std::erase(able, running_);
        able.insert(able.begin(), running_);
        if (preemptions == preemptions_max)
          able.resize(1);
      }
      std::size_t taken = 0;
      if (able.size() > 1) {
        if (position == choices_.size())
          choices_.push_back({0, able.size()});
        taken = choices_[position++].taken;
      }
      preemptions += goes_on && taken != 0 ? 1 : 0;
      running_ = able[taken];
      swapcontext(&scheduler_, &agents_[running_].context);
    }
    current_ = nullptr;
    return all_over();
  }

  [[nodiscard]] bool all_over() const {
    return std::ranges::all_of(agents_, [](const agent& each) { return each.is_over || each.is_background; });
  }

  bool next_order() {
    while (!choices_.empty() && choices_.back().taken + 1 == choices_.back().count)
      choices_.pop_back();
    if (choices_.empty())
      return false;
    ++choices_.back().taken;
    return true;
  }

  static inline interleavings* current_ = nullptr;

  const std::function<void()> reset_;
  std::vector<agent> agents_;
  std::vector<choice> choices_;
  std::size_t running_ = nobody;
  ucontext_t scheduler_ = {};
};

} // namespace troupe::tests
