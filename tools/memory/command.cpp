#include "memory/command.hpp"

#include "arguments.hpp"
#include "memory/asking.hpp"
#include "memory/views.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace troupe::tools {

namespace {

enum class memory_order { size, age, holders, object };

/// The command's options.
struct memory_request {
  std::vector<std::string> nodes;
  access by;
  std::string directory = "/dev/shm";
  double old_seconds = 600;
  std::size_t limit = 1'000;
  memory_order sort = memory_order::size;
  memory_group group_by = memory_group::none;
  std::uint32_t process = 0;
  std::string store;
  std::string keeper;
  std::string object;
  bool leaks = false;
  bool json = false;
};

[[nodiscard]] std::chrono::milliseconds milliseconds_of(double seconds) {
  return std::chrono::milliseconds{static_cast<std::int64_t>(seconds * 1000)};
}

/// Skips the sort if the rows, which are large, are already in order, as they mostly are.
template <class Order, class Projection>
void sort_stably(std::vector<memory_object>& objects, Order order, Projection of) {
  if (!std::ranges::is_sorted(objects, order, of))
    std::ranges::stable_sort(objects, order, of);
}

void sort(std::vector<memory_object>& objects, memory_order key) {
  switch (key) {
  case memory_order::size:
    sort_stably(objects, std::ranges::greater{}, &memory_object::size_bytes);
    break;
  case memory_order::age:
    sort_stably(objects, std::ranges::greater{}, &memory_object::age_ms);
    break;
  case memory_order::holders:
    sort_stably(objects, std::ranges::greater{}, [](const auto& each) { return each.holders.size(); });
    break;
  case memory_order::object:
    sort_stably(objects, std::ranges::less{}, &memory_object::object);
    break;
  }
}

[[nodiscard]] bool is_of_store(const memory_process& process, const std::string& store) {
  return process.store == store || process.node == "store \"" + store + '"';
}

/// The reason why nothing can match the request, or empty if something can.
[[nodiscard]] std::string absence(const memory_summary& summary, const memory_request& asked) {
  const auto& processes = summary.processes;
  const auto is_asked_store = [&](const auto& each) { return is_of_store(each, asked.store); };
  if (!asked.store.empty() && std::ranges::none_of(processes, is_asked_store)
      && std::ranges::count(summary.objects, asked.store, &memory_object::store) == 0)
    return "no process that answered has a store \"" + asked.store + "\"; `troupe store stores` lists this host's";
  if (!asked.keeper.empty() && std::ranges::count(processes, asked.keeper, &memory_process::node) == 0)
    return "no node that answered is called \"" + asked.keeper + "\"; `troupe memory` shows who was asked";
  return {};
}

/// Keeps only the requested objects, and the hints about them.
void select(memory_summary& summary, const memory_request& asked, std::vector<memory_hint>& hints) {
  std::set<std::uint32_t> keepers;
  for (const auto& each : summary.processes)
    if (each.node == asked.keeper)
      keepers.insert(each.process);
  std::set<std::string_view> hinted;
  for (const auto& each : hints)
    hinted.insert(each.object);
  std::erase_if(summary.objects, [&](const memory_object& each) {
    const auto is_of = [&](const memory_holder& holder) { return holder.process == asked.process; };
    const auto is_of_keeper = [&](const memory_holder& holder) { return keepers.contains(holder.process); };
    return (!asked.object.empty() && each.object != asked.object)
           || (asked.process != 0 && std::ranges::none_of(each.holders, is_of))
           || (!asked.store.empty() && each.store != asked.store)
           || (!asked.keeper.empty() && std::ranges::none_of(each.holders, is_of_keeper))
           || (asked.leaks && !hinted.contains(each.object));
  });
  if (!asked.store.empty())
    std::erase_if(summary.processes, [&](const memory_process& each) {
      // If a process has not answered, its store may be unknown.
      const auto is_unknown = !each.problem.empty() && each.store.empty() && !each.node.starts_with("store \"");
      return !is_of_store(each, asked.store) && !is_unknown;
    });
  sort(summary.objects, asked.sort);
  while (asked.limit > 0 && summary.objects.size() > asked.limit) {
    ++summary.objects_left_off;
    summary.bytes_left_off += summary.objects.back().size_bytes;
    summary.objects.pop_back();
  }
  if (hints.empty())
    return;
  std::set<std::string_view> shown;
  for (const auto& each : summary.objects)
    shown.insert(each.object);
  std::erase_if(hints, [&](const memory_hint& each) { return !shown.contains(each.object); });
}

/// Number of objects to ask for. A selection needs all rows, because any of them may match.
[[nodiscard]] std::uint64_t rows_to_ask_for(const memory_request& asked) {
  const auto selects = asked.process != 0 || !asked.object.empty() || !asked.store.empty() || !asked.keeper.empty()
                       || asked.leaks || asked.group_by != memory_group::none || asked.sort != memory_order::size;
  return selects || asked.limit == 0 ? UINT64_MAX : std::max<std::uint64_t>(asked.limit, 10'000);
}

[[nodiscard]] bool nobody_answered(const memory_summary& summary) {
  return !summary.processes.empty() && summary.objects.empty()
         && std::ranges::none_of(summary.processes, [](const auto& each) { return each.problem.empty(); });
}

void show(const memory_request& asked, std::ostream& out, std::ostream& err, int& status) {
  memory_summary summary;
  if (asked.nodes.empty()) {
    summary = memory_of_host(asked.directory, rows_to_ask_for(asked), asked.by);
  } else {
    auto known = memory_of_nodes(asked.nodes, asked.by);
    summary = std::move(known.summary);
    status = known.has_bad_address ? 2 : 0;
  }
  auto hints = leak_hints(summary, milliseconds_of(asked.old_seconds));
  if (nobody_answered(summary))
    status = std::max(status, 1);
  if (const auto why = absence(summary, asked); !why.empty()) {
    err << printable("troupe: " + why) << '\n';
    status = std::max(status, 1);
  }
  select(summary, asked, hints);
  if (!asked.object.empty() && summary.objects.empty()) {
    err << "troupe: nothing keeps an object " << asked.object << "; `troupe memory` shows all\n";
    status = std::max(status, 1);
    return;
  }
  if (asked.group_by != memory_group::none) {
    const auto groups = grouped_by(summary, asked.group_by);
    out << (asked.json ? json_of(groups) : printable(text_of(groups)));
    err << text_of_unasked(summary);
    return;
  }
  if (asked.leaks && !asked.json && summary.objects.empty())
    out << "nothing looks like a leak\n" << text_of_unasked(summary);
  else
    out << (asked.json ? json_of(summary, hints) : text_of(summary, hints));
}

} // namespace

void add_memory_command(CLI::App& app, std::ostream& out, std::ostream& err, int& status) {
  auto asked = std::make_shared<memory_request>();
  auto* const memory =
      app.add_subcommand("memory", "Shows the objects in memory and on disk, the processes that keep them, and "
                                   "why. Without --node, it asks all nodes and stores of this user on this host");
  memory->add_option("--node", asked->nodes,
                     "Asks the node at this address instead; its link must allow this (allow_memory_summary). "
                     "Several nodes give one combined result");
  add_access(*memory, asked->by);
  memory->add_option("--directory", asked->directory, "Directory of this host's stores")
      ->check(CLI::ExistingDirectory)
      ->capture_default_str()
      ->option_text("DIR");
  memory
      ->add_option("--old", asked->old_seconds, "Seconds after which an export or a message counts as a suspected leak")
      ->check(is_within(0, 1e9))
      ->capture_default_str();
  memory->add_option("--sort", asked->sort, "Order: size, age, holders or object")
      ->transform(by_name<memory_order>({{"size", memory_order::size},
                                         {"age", memory_order::age},
                                         {"holders", memory_order::holders},
                                         {"object", memory_order::object}}))
      ->option_text("KEY");
  memory
      ->add_option("--group-by", asked->group_by,
                   "One line for each reason, process, store, state, creator, call-site or link")
      ->transform(by_name<memory_group>({{"reason", memory_group::reason},
                                         {"process", memory_group::process},
                                         {"store", memory_group::store},
                                         {"state", memory_group::state},
                                         {"creator", memory_group::creator},
                                         {"call-site", memory_group::call_site},
                                         {"link", memory_group::link}}))
      ->option_text("KEY");
  memory
      ->add_option("--limit", asked->limit, "Shows at most this number of objects, in the order of --sort; 0: no limit")
      ->check(is_whole_within(0, 1'000'000'000))
      ->capture_default_str();
  memory->add_option("--process", asked->process, "Only objects that this process helps to keep")
      ->check(is_whole_within(1, 1'000'000'000));
  memory->add_option("-s,--store", asked->store, "Only objects in the store of this name")->check(is_not_empty());
  memory->add_option("--keeper", asked->keeper, "Only objects that the node of this name helps to keep")
      ->check(is_not_empty())
      ->option_text("NAME");
  memory->add_option("--object", asked->object, "Only this object");
  memory->add_flag("--leaks", asked->leaks, "Only suspected leaks");
  memory->add_flag("--json", asked->json, "One JSON document instead of text");
  memory->callback([asked, &out, &err, &status] { show(*asked, out, err, status); });
}

} // namespace troupe::tools
