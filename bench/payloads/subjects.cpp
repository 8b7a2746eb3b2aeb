#include "payloads/subjects.hpp"

#include "peers/all.hpp"
#include "peers/caf_large.hpp"
#include "peers/raw_asio.hpp"
#include "peers/run_store.hpp"
#include "peers/troupe_process.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace bench {

namespace {

using bytes = troupe::array<char>;
using maker_of_addresses = std::string (*)();

constexpr std::string_view by_store = "troupe-store";

/// A near end that only sends large values.
class large_near_end : public near_end {
public:
  std::expected<seconds, std::string> one_way(std::uint64_t) override { return std::unexpected{"carries none here"}; }
  std::expected<seconds, std::string> echo(std::uint64_t, std::uint64_t, std::vector<seconds>*) override {
    return std::unexpected{"carries none here"};
  }
};

// -- Troupe

std::expected<void, std::string> serve(const std::string& address, std::optional<troupe::store::options> store,
                                       const ready_report& ready) {
  troupe_process process;
  process.types.add<bytes>("bench.bytes");
  if (auto opened = process.open({address}, std::move(store)); !opened)
    return opened;
  if (auto published = process.node->publish("taker", spawn_taker<bytes>(process.system)); !published)
    return std::unexpected{published.error().message()};
  ready(process.node->addresses().front());
  wait_for_end_of_input();
  std::_Exit(0); // Skips the shutdown of the actor.
}

class troupe_near_end final : public large_near_end {
public:
  std::expected<void, std::string> connect(const std::string& address, std::optional<troupe::store::options> store) {
    const auto has_store = store.has_value();
    process_.types.add<bytes>("bench.bytes");
    if (auto opened = process_.open({}, std::move(store)); !opened)
      return opened;
    auto link = process_.dial(address);
    if (!link)
      return std::unexpected{std::move(link).error()};
    if (has_store && !link->shares_store())
      return std::unexpected{"the two ends do not share a store"};
    auto found = link->find("taker");
    if (!found)
      return std::unexpected{found.error().message()};
    taker_ = *std::move(found);
    return {};
  }

  std::expected<std::vector<seconds>, std::string> hand_over(std::uint64_t count, std::size_t size_bytes) override {
    return caf_hand_over<bytes>(process_.system, taker_, count, size_bytes);
  }

private:
  troupe_process process_;
  caf::actor taker_;
};

subject troupe_at(std::string name, maker_of_addresses address) {
  const auto store = needs_store(name);
  const auto store_of = [store] { return store ? std::optional{inherited_store()} : std::nullopt; };
  return {std::move(name),
          [address, store_of](const ready_report& ready) { return serve(address(), store_of(), ready); },
          [store_of](const std::string& at) -> std::expected<std::unique_ptr<near_end>, std::string> {
            auto near = std::make_unique<troupe_near_end>();
            if (auto connected = near->connect(at, store_of()); !connected)
              return std::unexpected{std::move(connected).error()};
            return near;
          }};
}

// -- copying: a limit, because any transfer that leaves a copy at the other end takes at least as long

class copying final : public large_near_end {
public:
  std::expected<std::vector<seconds>, std::string> hand_over(std::uint64_t count, std::size_t size_bytes) override {
    to_.resize(size_bytes); // Touched before it is written, like a socket's buffer after the first value.
    return time_large_values(count, size_bytes, [this](const std::vector<char>& from) {
      std::memcpy(to_.data(), from.data(), from.size());
      asm volatile("" : : "r"(to_.data()) : "memory"); // Keeps the compiler from removing the copy.
      return number_of_large(to_);
    });
  }

private:
  std::vector<char> to_;
};

subject memcpy_alone() {
  return {"memcpy",
          [](const ready_report& ready) -> std::expected<void, std::string> {
            ready("here");
            wait_for_end_of_input();
            return {};
          },
          [](const std::string&) -> std::expected<std::unique_ptr<near_end>, std::string> {
            return std::make_unique<copying>();
          }};
}

} // namespace

const std::vector<subject>& payload_subjects() {
  static const auto all = [] {
    std::vector<subject> made{troupe_at("troupe-unix", unix_address), troupe_at("troupe-tcp", tcp_address),
                              troupe_at(std::string{by_store}, unix_address)};
    // They differ from the peers before them only in how threads wake and how small messages are sent.
    constexpr std::string_view left_out[] = {"caf-basp-sharing", "openmpi-windowed"};
    for (auto& peer : all_peers())
      if (std::ranges::find(left_out, peer.name) == std::ranges::end(left_out))
        made.push_back(std::move(peer));
    made.push_back(raw_asio_unix());
    made.push_back(memcpy_alone());
    return made;
  }();
  return all;
}

const subject* find_payload_subject(std::string_view name) {
  const auto found = std::ranges::find(payload_subjects(), name, &subject::name);
  return found == payload_subjects().end() ? nullptr : &*found;
}

bool needs_store(std::string_view subject) {
  return subject == by_store;
}

} // namespace bench
