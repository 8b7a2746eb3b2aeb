#include <troupe/framework/bench/link_pair.hpp>

#include "harness/statistics.hpp"

#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace troupe::bench::detail {

namespace {

using bench_clock = std::chrono::steady_clock;

/// How long a message may take before the row counts as failed.
constexpr std::chrono::seconds patience{20};

[[nodiscard]] std::string new_address(const surroundings& in, const std::string& over, const std::string& name) {
  if (over == "tcp")
    return "tcp://127.0.0.1:0";
  return (over == "inproc" ? "inproc://" : "unix://@") + in.names + '-' + name + '-' + over;
}

[[nodiscard]] std::string count_of_failures(const link_stats& seen) {
  std::string text;
  for (const auto& [count, what] : {std::pair{seen.unserializable, "could not be sent"},
                                    {seen.refused_at_bound, "found no room"},
                                    {seen.undelivered, "were not delivered"}})
    if (count > 0)
      text += fmt::format("{}{} {}", text.empty() ? ": " : ", ", count, what);
  return text;
}

} // namespace

side::side() : system_(config_.set("scheduler.max-threads", std::size_t{1})) {}

std::expected<std::unique_ptr<side>, node_error> side::open(const surroundings& in, const std::string& name,
                                                            link_options accepted) {
  std::unique_ptr<side> made{new side};
  node_options options{.name = "compare " + name, .accepted_links = std::move(accepted)};
  options.store = in.store;
  options.local_queries = false;
  auto opened = node::open(made->system_, in.types, in.families, std::move(options));
  if (!opened)
    return std::unexpected(std::move(opened).error());
  made->home_.emplace(*std::move(opened));
  return made;
}

std::expected<std::unique_ptr<measured_link>, std::string> measured_link::open(const surroundings& in,
                                                                               const sample_source& samples, side& near,
                                                                               side& far, const std::string& over,
                                                                               const link_options& terms) {
  const auto known = far.home().addresses().size();
  if (const auto listening = far.home().listen(
          new_address(in, over, *terms.serializers->begin() + '-' + std::string(to_string(*terms.compression))));
      !listening)
    return std::unexpected(listening.error().message());
  auto dialed = terms;
  dialed.share_store = over == "store";
  if (over == "unix")
    dialed.use_rings = false;
  auto by = near.home().connect(far.home().addresses().at(known), dialed);
  if (!by)
    return std::unexpected(by.error().message());
  if (over == "store" && !by->shares_store())
    return std::unexpected("the two ends do not share a store");
  std::unique_ptr<measured_link> made{new measured_link{samples, near, *std::move(by)}};
  const auto consumer = samples.spawn_consumer(far.system(), made->arrived_);
  const auto echoer = samples.spawn_echoer(far.system());
  for (const auto& [name, actor, found] : {std::tuple{"consumer-" + over, consumer, &made->consumer_},
                                           std::tuple{"echoer-" + over, echoer, &made->echoer_}}) {
    if (const auto published = far.home().publish(name, actor); !published)
      return std::unexpected(published.error().message());
    auto there = made->by_.find(name);
    if (!there)
      return std::unexpected(there.error().message());
    *found = *std::move(there);
  }
  return made;
}

std::expected<void, std::string> measured_link::prepare() {
  const auto asked = ask(std::chrono::nanoseconds{0}, samples_.size());
  return asked ? std::expected<void, std::string>() : std::unexpected(asked.error());
}

std::expected<streamed, std::string> measured_link::stream(std::chrono::nanoseconds time, std::uint64_t window) {
  const auto before = by_.stats();
  const auto first = arrived_->count();
  const auto began = bench_clock::now();
  caf::scoped_actor self{near_.system()};
  std::uint64_t sent = 0;
  const auto wait_for = [&](std::uint64_t count) {
    return arrived_->wait(first + count, bench_clock::now() + patience);
  };
  const auto lost = [&]() -> std::expected<streamed, std::string> {
    return std::unexpected(fmt::format("{} of {} messages arrived within {} s{}", arrived_->count() - first, sent,
                                       patience.count(), count_of_failures(by_.stats())));
  };
  const auto first_sample = next_ % samples_.size();
  const auto is_over = [&] {
    const auto passed = bench_clock::now() - began;
    return passed >= time && (next_ % samples_.size() == first_sample || passed >= slice_most(time));
  };
  do {
    samples_.send(self, consumer_, next_++ % samples_.size());
    if (++sent - (arrived_->count() - first) >= window && !wait_for(sent - window / 2))
      return lost();
  } while (!is_over());
  if (!wait_for(sent))
    return lost();
  const std::chrono::duration<double, std::nano> took = bench_clock::now() - began;
  const auto after = by_.stats();
  const auto each = [&](std::uint64_t now, std::uint64_t then) {
    return static_cast<double>(now - then) / static_cast<double>(sent);
  };
  return streamed{took.count() / static_cast<double>(sent), each(after.socket_bytes_sent, before.socket_bytes_sent),
                  each(after.handle_bytes_sent, before.handle_bytes_sent)};
}

std::expected<std::vector<double>, std::string> measured_link::ask(std::chrono::nanoseconds time, std::size_t least) {
  const auto made = std::make_shared<trips>();
  made->until = bench_clock::now() + time;
  made->least = least;
  made->first = next_;
  auto done = made->done.get_future();
  samples_.spawn_asker(near_.system(), echoer_, made);
  if (done.wait_for(time + patience) != std::future_status::ready)
    return std::unexpected(fmt::format("no answer within {} s{}", patience.count(), count_of_failures(by_.stats())));
  if (!made->failure.empty())
    return std::unexpected(made->failure);
  next_ += made->seconds.size();
  return std::move(made->seconds);
}

std::expected<double, std::string> measured_link::round_trip_ns(std::chrono::nanoseconds time) {
  auto seconds = ask(time, 1);
  if (!seconds)
    return std::unexpected(std::move(seconds).error());
  return ::bench::median(*std::move(seconds)) * 1e9;
}

std::string measured_link::family_of(const std::string& alias) const {
  for (const auto& row : by_.stats().by_type)
    if (row.type == alias && row.sent.payloads > 0)
      return row.family;
  return "none";
}

} // namespace troupe::bench::detail
