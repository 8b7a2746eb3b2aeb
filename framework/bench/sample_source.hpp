// The samples of a comparison, independent of their C++ type. Programs use compare.hpp.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <caf/all.hpp>

#include <troupe/base/export.hpp>
#include <troupe/framework/bench/arrivals.hpp>
#include <troupe/framework/message_types.hpp>
#include <troupe/framework/node_error.hpp>

namespace troupe::bench::detail {

/// Whether this source is compiled with optimization. Each source has its own.
#ifdef __OPTIMIZE__
static constexpr bool optimized = true;
#else
static constexpr bool optimized = false;
#endif

/// How long a slice of that time may take in order to use each sample equally often.
[[nodiscard]] constexpr std::chrono::nanoseconds slice_most(std::chrono::nanoseconds time) {
  return 4 * time;
}

/// Requests that an actor makes one after the other. The actor fulfills `done` once, and touches nothing afterwards.
struct trips {
  std::chrono::steady_clock::time_point until;
  std::size_t least = 1;       ///< How many requests are made even if the time is over.
  std::size_t first = 0;       ///< The number of the first sample, counted on beyond the last one.
  std::vector<double> seconds; ///< One per answered request.
  std::string failure;         ///< Why there are no more.
  std::promise<void> done;
};

/// What the measurement needs to know about the samples. Requires: there is at least one.
///
/// Threads: the const members may be called from any thread.
/// Lifetime: must outlive the actors that it spawns.
class TROUPE_EXPORT sample_source {
public:
  sample_source() = default;
  sample_source(const sample_source&) = delete;
  sample_source& operator=(const sample_source&) = delete;
  virtual ~sample_source();

  [[nodiscard]] virtual std::size_t size() const = 0;
  [[nodiscard]] virtual const void* value(std::size_t number) const = 0;

  /// Sends a copy of the sample, as a program does.
  virtual void send(caf::scoped_actor& from, const caf::actor& to, std::size_t number) const = 0;

  /// An actor that counts the samples that it gets.
  [[nodiscard]] virtual caf::actor spawn_consumer(caf::actor_system& system,
                                                  std::shared_ptr<arrivals> counted) const = 0;
  /// An actor that answers with what it gets.
  [[nodiscard]] virtual caf::actor spawn_echoer(caf::actor_system& system) const = 0;
  /// An actor that sends requests as `made` says, one after the other, and then ends.
  virtual void spawn_asker(caf::actor_system& system, const caf::actor& echoer, std::shared_ptr<trips> made) const = 0;
};

/// The state of one asker.
template <class T>
struct asking {
  std::span<const T> samples;
  caf::actor echoer;
  std::shared_ptr<trips> made;
};

template <class T>
void ask_next(caf::event_based_actor* self, const std::shared_ptr<asking<T>>& of) {
  const auto began = std::chrono::steady_clock::now();
  if (of->made->seconds.size() >= of->made->least && began >= of->made->until) {
    of->made->done.set_value();
    self->quit();
    return;
  }
  const auto& sample = of->samples[(of->made->first + of->made->seconds.size()) % of->samples.size()];
  self->request(of->echoer, caf::infinite, sample)
      .then(
          [self, of, began](const T&) {
            const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
            of->made->seconds.push_back(took.count());
            ask_next(self, of);
          },
          [self, of](const caf::error& error) {
            of->made->failure = text_of(error);
            of->made->done.set_value();
            self->quit();
          });
}

template <class T>
caf::behavior asker(caf::event_based_actor* self, const std::shared_ptr<asking<T>>& of) {
  ask_next(self, of);
  return {[](caf::unit_t) {}}; // Answers come to handlers of their own.
}

/// Samples of a C++ type.
template <class T>
class samples_of final : public sample_source {
public:
  explicit samples_of(std::span<const T> samples) : samples_(samples) {}

  [[nodiscard]] std::size_t size() const override { return samples_.size(); }
  [[nodiscard]] const void* value(std::size_t number) const override { return &samples_[number]; }

  void send(caf::scoped_actor& from, const caf::actor& to, std::size_t number) const override {
    from->send(to, samples_[number]);
  }
  [[nodiscard]] caf::actor spawn_consumer(caf::actor_system& system, std::shared_ptr<arrivals> counted) const override {
    return system.spawn(
        [](caf::event_based_actor*, const std::shared_ptr<arrivals>& by) -> caf::behavior {
          return {[by](const T&) { by->add(); }};
        },
        std::move(counted));
  }
  [[nodiscard]] caf::actor spawn_echoer(caf::actor_system& system) const override {
    return system.spawn(
        [](caf::event_based_actor*, int) -> caf::behavior { return {[](T& value) { return std::move(value); }}; }, 0);
  }
  void spawn_asker(caf::actor_system& system, const caf::actor& echoer, std::shared_ptr<trips> made) const override {
    system.spawn(asker<T>, std::make_shared<asking<T>>(samples_, echoer, std::move(made)));
  }

private:
  const std::span<const T> samples_;
};

} // namespace troupe::bench::detail
