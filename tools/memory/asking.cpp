#include "memory/asking.hpp"

#include <troupe/store/survey.hpp>

#include <unistd.h>

#include <algorithm>
#include <utility>

namespace troupe::tools {

namespace {

memory_summary failed(const local_node& who, std::string why) {
  memory_summary result;
  result.processes.push_back({who.process, who.process == 0 ? who.address : std::string{}, {}, std::move(why)});
  return result;
}

/// `is_no_address` is set if the address can never be reached.
struct memory_answer {
  memory_summary summary;
  bool is_no_address = false;
};

memory_answer ask_one(client& by, const local_node& whom, const memory_query& what) {
  auto link = by.connect(whom.address);
  if (!link && is_none_of_ours(whom, link.error()))
    return {};
  if (!link)
    return {failed(whom, link.error().message()), link.error().code() == node_errc::bad_address};
  auto known = link->memory_summary(by.timeout(), what);
  link->close();
  return {known ? *std::move(known) : failed(whom, known.error().message())};
}

/// The answers, in the order of the nodes.
std::vector<memory_answer> ask_all(const std::vector<local_node>& nodes, const memory_query& what, const access& by) {
  std::vector<memory_answer> answers(nodes.size());
  if (nodes.empty())
    return answers;
  client one{by};
  ask_each(nodes.size(), [&](std::size_t which) { answers[which] = ask_one(one, nodes[which], what); });
  return answers;
}

std::vector<memory_summary> summaries_of(std::vector<memory_answer> answers) {
  std::vector<memory_summary> result;
  for (auto& each : answers)
    result.push_back(std::move(each.summary));
  return result;
}

/// Adds the processes that have the store open but did not answer, so that the summary at least names them.
void add_unasked(const store::store_summary& known, memory_summary& to, const std::vector<memory_summary>& answers) {
  for (const auto each : known.processes) {
    const auto process = static_cast<std::uint32_t>(each);
    const auto has_process = [&](const memory_summary& answer) {
      return std::ranges::any_of(answer.processes, [&](const auto& one) { return one.process == process; });
    };
    if (each != ::getpid() && !std::ranges::any_of(answers, has_process))
      to.processes.push_back({process, {}, known.name, "no node of it can be asked (node_options::local_queries)"});
  }
}

/// Number and total size of a store's objects.
struct store_total {
  std::string store;
  std::uint64_t objects = 0;
  std::uint64_t bytes = 0;
};

[[nodiscard]] store_total total_of(const store::store_summary& known) {
  store_total result{known.name, known.rows.size() + known.rows_left_off, known.bytes_left_off};
  for (const auto& row : known.rows)
    result.bytes += row.size_bytes;
  return result;
}

/// Recounts the omitted objects per store: a node and its store report the same omitted objects, so their counts cannot
/// be added.
void count_left_off(memory_summary& summary, const std::vector<store_total>& totals) {
  summary.objects_left_off = summary.bytes_left_off = 0;
  for (const auto& total : totals) {
    auto left = total;
    for (const auto& each : summary.objects)
      if (each.store == total.store) {
        left.objects -= std::min<std::uint64_t>(left.objects, 1);
        left.bytes -= std::min(left.bytes, each.size_bytes);
      }
    summary.objects_left_off += left.objects;
    summary.bytes_left_off += left.bytes;
  }
}

} // namespace

memory_summary with_stores(std::vector<memory_summary> parts, const std::string& store_directory,
                           std::uint64_t objects_max) {
  const auto answers = parts;
  std::vector<store_total> totals;
  for (const auto& each : store::find_stores(store_directory)) {
    if (!each.is_of_this_boot || !each.is_of_this_layout)
      continue;
    const auto known = store::inspect(each.name, store_directory, {.rows_max = static_cast<std::size_t>(objects_max)});
    if (!known)
      continue; // The store has gone meanwhile, or it is damaged, which `troupe store` reports.
    auto part = memory_of(*known);
    totals.push_back(total_of(*known));
    if (known->processes.empty())
      part.processes.push_back({0,
                                "store \"" + known->name + '"',
                                {},
                                "all of its processes are dead; `troupe store clean --store " + known->name
                                    + "` gives back what they held"});
    add_unasked(*known, part, answers);
    parts.push_back(std::move(part));
  }
  auto summary = combined(std::move(parts));
  count_left_off(summary, totals);
  return summary;
}

memory_summary memory_of_host(const std::string& store_directory, std::uint64_t objects_max, const access& by) {
  const auto nodes = nodes_at({});
  if (nodes)
    return with_stores(summaries_of(ask_all(*nodes, {.objects_max = objects_max, .whole_store = false}, by)),
                       store_directory, objects_max);
  memory_summary none;
  none.processes.push_back({0, "this host's nodes", {}, nodes.error().message()});
  return with_stores({std::move(none)}, store_directory, objects_max);
}

memory_of_addresses memory_of_nodes(const std::vector<std::string>& addresses, const access& by) {
  const auto nodes = nodes_at(addresses);
  auto answers = ask_all(*nodes, {}, by); // Cannot fail if addresses are given.
  const auto is_wrong = std::ranges::any_of(answers, &memory_answer::is_no_address);
  return {combined(summaries_of(std::move(answers))), is_wrong};
}

} // namespace troupe::tools
