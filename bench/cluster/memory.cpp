// How much memory does a member take in the process of another one, and a published name?
//
// The measuring process writes entries under one lease, as members would write them. A process that has joined sees
// them, and tells its resident memory, which the system counts, and the memory that malloc() has given out.
#include "cluster/member_node.hpp"
#include "cluster/questions.hpp"

#include <fstream>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include <troupe/framework/cluster/directory.hpp>

#include <malloc.h>
#include <unistd.h>

namespace bench {

namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t few = 10;
constexpr auto lease_of_entries = 30min; // Nobody keeps it alive.
constexpr std::size_t entries_at_once = 100;

numbers resident_and_allocated() {
  const auto allocated = ::mallinfo2();
  return {resident_bytes_of("self"), static_cast<double>(allocated.uordblks + allocated.hblkhd)};
}

std::expected<step_taker, std::string> be_weighed(const cluster_bench_options& told) {
  auto member = std::make_shared<member_node>();
  if (auto joined = member->open_and_join("weighed", told.directory, told.lease); !joined)
    return std::unexpected{std::move(joined).error()};
  return step_taker{[member](const step& next) -> std::expected<numbers, std::string> {
    const auto sees_all = [&] {
      return next.name == "members" ? member->cluster().members().size() == next.count + 1
                                    : member->cluster().names().size() == next.count;
    };
    if (auto seen = wait_until(sees_all, "seeing all " + next.name); !seen)
      return std::unexpected{std::move(seen).error()};
    return resident_and_allocated();
  }};
}

std::string member_key_of(std::uint64_t number) {
  return fmt::format("members/member-{:06}", number);
}

std::string name_key_of(std::uint64_t number) {
  return fmt::format("names/member-{:06}/name-{:06}", number % few, number);
}

std::string member_value_of(std::uint64_t number) {
  return fmt::format(R"({{"incarnation":"{:064x}","addresses":["tls://10.0.0.5:{}"],"roles":["bench"],)"
                     R"("host":"another host's boot id, user and namespaces","version":"Troupe"}})",
                     number + 1, 4'000 + number);
}

/// Writes entries in a cluster's form (framework/cluster/format.md).
class entry_writer {
public:
  static std::expected<entry_writer, std::string> open(const std::string& address) {
    auto opened = troupe::open_directory(address);
    if (!opened)
      return std::unexpected{opened.error().message()};
    const auto lease = (*opened)->grant(lease_of_entries);
    if (!lease)
      return std::unexpected{lease.error().message()};
    return entry_writer{*std::move(opened), lease->id};
  }

  /// Writes the entries with the numbers from `begin` to before `end`.
  template <class Key, class Value>
  std::expected<void, std::string> write(std::uint64_t begin, std::uint64_t end, Key key, Value value) {
    for (auto next = begin; next < end;) {
      std::vector<troupe::directory_write> writes;
      for (; next < end && writes.size() < entries_at_once; ++next)
        writes.push_back({.key = key(next), .value = value(next), .lease = lease_});
      if (const auto done = in_->commit({}, writes); !done)
        return std::unexpected{done.error().message()};
    }
    return {};
  }

private:
  entry_writer(std::shared_ptr<troupe::directory> in, std::uint64_t lease) : in_(std::move(in)), lease_(lease) {}

  std::shared_ptr<troupe::directory> in_;
  std::uint64_t lease_;
};

/// Memory of the weighed process with few and with many of these entries, as its numbers.
template <class Value>
std::expected<std::pair<numbers, numbers>, failure> weigh_few_and_many(entry_writer& writer, role_process& weighed,
                                                                       const std::string& what, std::uint64_t many,
                                                                       std::string (*key)(std::uint64_t), Value value) {
  std::pair<numbers, numbers> weights;
  for (const auto& [from, to, weight] :
       {std::tuple{std::uint64_t{0}, few, &weights.first}, std::tuple{few, many, &weights.second}}) {
    if (const auto written = writer.write(from, to, key, value); !written)
      return failed_step(written.error());
    auto took = weighed.take({what, to}, 2);
    if (!took)
      return std::unexpected{std::move(took).error()};
    *weight = *std::move(took);
  }
  return weights;
}

void add_weights(cluster_run& run, const std::string& what, std::uint64_t many,
                 const std::pair<numbers, numbers>& weights) {
  const auto more = static_cast<double>(many - few);
  for (const auto& [at, which] : {std::pair{0U, "resident"}, std::pair{1U, "allocated"}})
    run.add({fmt::format("{} memory with {} {} - with {}, for each", which, many, what, few), "bytes"}, run.kind,
            (weights.second[at] - weights.first[at]) / more);
}

std::expected<void, failure> ask_memory(cluster_run& run) {
  auto weighed = role_process::start(run, "weighed");
  if (!weighed)
    return std::unexpected{std::move(weighed).error()};
  auto writer = entry_writer::open(run.directory);
  if (!writer)
    return failed_step(std::move(writer).error());
  const auto members =
      weigh_few_and_many(*writer, *weighed, "members", run.told.members, member_key_of, member_value_of);
  if (!members)
    return std::unexpected{members.error()};
  add_weights(run, "members", run.told.members, *members);
  const auto names =
      weigh_few_and_many(*writer, *weighed, "names", run.told.names, name_key_of, [](auto) { return "{}"; });
  if (!names)
    return std::unexpected{names.error()};
  add_weights(run, "names", run.told.names, *names);
  return {};
}

} // namespace

double resident_bytes_of(const std::string& process) {
  std::ifstream pages{"/proc/" + process + "/statm"};
  std::uint64_t all = 0, resident = 0, shared = 0;
  pages >> all >> resident >> shared;
  return static_cast<double>(resident - shared) * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

cluster_question memory_question() {
  return {.name = "memory", .rounds = 3, .roles = {{"weighed", be_weighed}}, .ask = ask_memory};
}

} // namespace bench
