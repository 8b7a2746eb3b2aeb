#include "bench/participant.hpp"

#include "bench/ends.hpp"
#include "bench/families.hpp"

#include "harness/statistics.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>
#include <thread>

#include <caf/all.hpp>
#include <fmt/format.h>
#include <troupe/framework/log.hpp>
#include <troupe/framework/node.hpp>

#include <unistd.h>

namespace troupe::tools {

namespace {

[[nodiscard]] link_options link_of(const measurement& what) {
  link_options made;
  if (what.family != "-") {
    made.serializers = {what.family};
    if (what.family != "typed") // For the ends' other messages.
      made.serializers = {what.family, "typed"};
  }
  made.trusted_families = true;
  made.spill_bytes = what.spill_bytes;
  made.compression = compression_of(what.compression);
  made.share_store = what.shares_store();
  made.credentials.secret_file = what.folder / "secret";
  if (what.transport == "tls")
    made.credentials.tls = {.certificate_file = what.folder / "certificate.pem",
                            .key_file = what.folder / "key.pem",
                            .authority_file = what.folder / "certificate.pem"};
  // Raise the limits for the requested size: free memory was checked before the run.
  const auto size_max = 4 * what.size_bytes + 64_MiB;
  const auto raise = [&](std::size_t& bound) { bound = std::max(bound, size_max); };
  raise(made.message_bytes.edit());
  raise(made.unread_answer_bytes.edit());
  raise(made.receive_limits.body_bytes);
  raise(made.receive_limits.frame_bytes);
  raise(made.receive_limits.text_bytes);
  raise(made.receive_limits.elements);
  raise(made.receive_limits.memory_bytes);
  raise(made.receive_limits.decompressed_bytes);
  if (what.size_bytes >= made.offload_bytes) {
    // All messages in the window may also wait to be encoded by another thread.
    const auto all_bytes = 2 * what.window() * what.size_bytes;
    made.queue_bytes = std::max(*made.queue_bytes, all_bytes);
    made.actor_queue_bytes = std::max(*made.actor_queue_bytes, all_bytes);
  }
  return made;
}

[[nodiscard]] std::string new_address(const std::string& transport) {
  static std::atomic<int> number{0};
  if (transport == "tcp" || transport == "tls")
    return transport + "://127.0.0.1:0";
  return fmt::format("{}troupe-bench-{}-{}", transport == "unix" ? "unix://@" : "inproc://", ::getpid(), number++);
}

/// A node and everything it needs, declared in the order that node.hpp requires.
class participant {
public:
  explicit participant(const measurement& what) : what_(what) {
    ends_for(what.family).add_type(types_);
    add_families(families_);
  }

  [[nodiscard]] std::expected<void, std::string> open() {
    set_log_threshold(log_level::error);
    node_options options{.name = "troupe bench", .listen = {new_address(what_.transport)}};
    options.accepted_links = link_of(what_);
    options.store = std::nullopt;
    if (!what_.store.empty())
      options.store = store::options{.name = what_.store, .directory = what_.folder, .must_exist = true};
    auto opened = node::open(system, types_, families_, std::move(options));
    if (!opened)
      return std::unexpected{opened.error().message()};
    home.emplace(*std::move(opened));
    return {};
  }

  [[nodiscard]] std::expected<link, std::string> dial(const std::string& address) {
    auto made = home->connect(address, link_of(what_));
    if (!made)
      return std::unexpected{made.error().message()};
    if (what_.shares_store() != made->shares_store())
      return std::unexpected{"the two ends do not share a store"};
    return *std::move(made);
  }

  [[nodiscard]] std::expected<void, std::string> publish(const std::string& name, const caf::actor& actor) {
    if (auto published = home->publish(name, actor); !published)
      return std::unexpected{published.error().message()};
    return {};
  }

  [[nodiscard]] std::string address() const { return home->addresses().front(); }
  [[nodiscard]] const measurement& what() const { return what_; }

private:
  const measurement what_;
  type_registry types_;
  family_set families_;
  system_config config_;

public:
  caf::actor_system system{config_};
  std::optional<node> home;
};

[[nodiscard]] std::expected<caf::actor, std::string> find(link at, const std::string& name) {
  auto found = at.find(name);
  if (!found)
    return std::unexpected{found.error().message()};
  return *std::move(found);
}

/// Dials the next node of a ring and gives the next actor to the passer. A separate actor does it, so that the dial
/// blocks no other handler.
caf::behavior joiner(caf::event_based_actor* self, const caf::actor& passer, participant* of) {
  return {[self, passer, of](next_atom, const std::string& address, const std::string& name) -> caf::result<bool> {
    auto link = of->dial(address);
    if (!link)
      return caf::make_error(caf::sec::runtime_error, link.error());
    const auto next = find(*link, name);
    if (!next)
      return caf::make_error(caf::sec::runtime_error, next.error());
    self->send(passer, next_atom::value, *next);
    return true;
  }};
}

[[nodiscard]] std::expected<std::unique_ptr<participant>, std::string> open_far_end(const measurement& what) {
  auto made = std::make_unique<participant>(what);
  if (auto opened = made->open(); !opened)
    return std::unexpected{opened.error()};
  const auto& kind = ends_for(what.family);
  const auto passing = kind.spawn_passer(made->system);
  const std::pair<const char*, caf::actor> actors[] = {
      {"consumer", kind.spawn_consumer(made->system, payload{what.size_bytes, what.data})},
      {"echoer", kind.spawn_echoer(made->system)},
      {"passer", passing},
      {"joiner", made->system.spawn<caf::detached>(joiner, passing, made.get())}};
  for (const auto& [name, actor] : actors)
    if (auto published = made->publish(name, actor); !published)
      return std::unexpected{published.error()};
  return made;
}

/// One driving node. A pattern with several drivers has one near_end for each.
class near_end {
public:
  explicit near_end(const measurement& what) : node_(what) {}

  [[nodiscard]] std::expected<void, std::string> connect(const std::vector<std::string>& addresses) {
    if (auto opened = node_.open(); !opened)
      return opened;
    for (const auto& each : addresses) {
      auto link = node_.dial(each);
      if (!link)
        return std::unexpected{link.error()};
      links_.push_back(*std::move(link));
    }
    return node_.what().how == pattern::ring ? close_ring(addresses) : spawn_driver();
  }

  [[nodiscard]] std::expected<reached, std::string> measure(double seconds) {
    const auto before = handle_bytes();
    std::expected<reached, std::string> made;
    caf::scoped_actor self{node_.system};
    self->request(driver_, caf::infinite, measure_atom::value, seconds)
        .receive([&](bool) { made = *result_; },
                 [&](const caf::error& error) { made = std::unexpected{troupe::text_of(error)}; });
    handle_bytes_ = static_cast<double>(handle_bytes() - before);
    if (made)
      if (auto wrong = wrong_family(); !wrong.empty())
        return std::unexpected{std::move(wrong)};
    return made;
  }

  /// Bytes sent by handle in the last measurement.
  [[nodiscard]] double handle_bytes_sent() const { return handle_bytes_; }

private:
  [[nodiscard]] std::expected<void, std::string> spawn_driver() {
    const auto& what = node_.what();
    const auto& kind = ends_for(what.family);
    const auto asks = what.how == pattern::echo || what.how == pattern::pipelined;
    std::vector<caf::actor> found;
    for (const auto& each : links_) {
      auto one = find(each, asks ? "echoer" : "consumer");
      if (!one)
        return std::unexpected{one.error()};
      found.push_back(*std::move(one));
    }
    driver_ = asks ? kind.spawn_asker(node_.system, what, found.front(), result_)
                   : kind.spawn_streamer(node_.system, what, std::move(found), result_);
    return {};
  }

  /// Gives each far end the address of the next one, and the last far end this node's address.
  [[nodiscard]] std::expected<void, std::string> close_ring(const std::vector<std::string>& addresses) {
    const auto& what = node_.what();
    driver_ = ends_for(what.family).spawn_lapper(node_.system, what, result_);
    if (auto published = node_.publish("lapper", driver_); !published)
      return published;
    caf::scoped_actor self{node_.system};
    std::string problem;
    const auto take_error = [&](const caf::error& error) { problem = troupe::text_of(error); };
    for (std::size_t i = 0; i < links_.size() && problem.empty(); ++i) {
      auto joining = find(links_[i], "joiner");
      if (!joining)
        return std::unexpected{joining.error()};
      const auto is_last = i + 1 == links_.size();
      self->request(*joining, caf::infinite, next_atom::value, is_last ? node_.address() : addresses[i + 1],
                    std::string{is_last ? "lapper" : "passer"})
          .receive([](bool) {}, take_error);
    }
    if (!problem.empty())
      return std::unexpected{problem};
    auto first = find(links_.front(), "passer");
    if (!first)
      return std::unexpected{first.error()};
    self->request(driver_, caf::infinite, next_atom::value, *first).receive([](bool) {}, take_error);
    return problem.empty() ? std::expected<void, std::string>{} : std::unexpected{problem};
  }

  [[nodiscard]] std::uint64_t handle_bytes() const {
    std::uint64_t sum = 0;
    for (const auto& each : links_)
      sum += each.stats().handle_bytes_sent;
    return sum;
  }

  /// Empty if the requested family carried the payloads; otherwise names the family that did.
  [[nodiscard]] std::string wrong_family() const {
    const auto& asked = node_.what().family;
    for (const auto& row : links_.front().stats().by_type)
      if (row.type == ends_for(asked).alias() && row.sent.payloads > 0 && row.family != asked
          && !(asked == "-" && row.family == "none"))
        return fmt::format("payloads were carried by {}, not by {}", row.family, asked);
    return {};
  }

  participant node_;
  std::vector<link> links_;
  std::shared_ptr<reached> result_ = std::make_shared<reached>();
  caf::actor driver_;
  double handle_bytes_ = 0;
};

/// All near ends of this process, and the far ends if the transport is in-process.
struct near_process {
  std::vector<std::unique_ptr<participant>> far;
  std::vector<std::unique_ptr<near_end>> near;
};

[[nodiscard]] std::expected<void, std::string> connect(near_process& all, const measurement& what,
                                                       const std::string& addresses) {
  std::vector<std::string> there;
  std::istringstream words{addresses};
  if (what.transport != "inproc")
    for (std::string each; std::getline(words, each, ',');)
      there.push_back(each);
  while (what.transport == "inproc" && all.far.size() < what.far_ends()) {
    auto made = open_far_end(what);
    if (!made)
      return std::unexpected{made.error()};
    there.push_back((*made)->address());
    all.far.push_back(*std::move(made));
  }
  const auto near_count = what.transport == "inproc" ? what.near_ends() : 1;
  while (all.near.size() < near_count) {
    all.near.push_back(std::make_unique<near_end>(what));
    if (auto connected = all.near.back()->connect(there); !connected)
      return connected;
  }
  return {};
}

[[nodiscard]] std::expected<bench::numbers, std::string> take_step(near_process& all, double seconds) {
  std::vector<std::expected<reached, std::string>> made(all.near.size());
  {
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < all.near.size(); ++i)
      others.emplace_back([&, i] { made[i] = all.near[i]->measure(seconds); });
    made.front() = all.near.front()->measure(seconds);
  }
  answer sum;
  for (std::size_t i = 0; i < made.size(); ++i) {
    if (!made[i])
      return std::unexpected{made[i].error()};
    sum.messages += static_cast<double>(made[i]->messages);
    sum.seconds = std::max(sum.seconds, made[i]->seconds);
    sum.handle_bytes += all.near[i]->handle_bytes_sent();
  }
  if (auto& trips = made.front()->trips; !trips.empty()) {
    sum.p50 = bench::percentile(trips, 50);
    sum.p90 = bench::percentile(trips, 90);
    sum.p99 = bench::percentile(trips, 99);
    sum.p999 = bench::percentile(trips, 99.9);
    sum.max = std::ranges::max(trips);
  }
  return sum.numbers();
}

} // namespace

bench::numbers answer::numbers() const {
  return {messages, seconds, handle_bytes, p50, p90, p99, p999, max};
}

answer answer::of(const bench::numbers& values) {
  return {values.at(0), values.at(1), values.at(2), values.at(3),
          values.at(4), values.at(5), values.at(6), values.at(7)};
}

std::expected<void, std::string> serve_far_end(const measurement& what,
                                               const std::function<void(const std::string& address)>& ready) {
  auto made = open_far_end(what);
  if (!made)
    return std::unexpected{made.error()};
  ready((*made)->address());
  for (std::string line; std::getline(std::cin, line);)
    continue;
  std::_Exit(0); // Skips the shutdown of the actors.
}

std::expected<bench::step_taker, std::string> connect_near_end(const measurement& what, const std::string& addresses) {
  auto all = std::make_shared<near_process>();
  if (auto connected = connect(*all, what, addresses); !connected)
    return std::unexpected{connected.error()};
  return [all](const bench::step& next) { return take_step(*all, static_cast<double>(next.count) / 1e6); };
}

} // namespace troupe::tools
