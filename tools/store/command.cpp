#include "store/command.hpp"

#include "arguments.hpp"
#include "store/json.hpp"
#include "store/reasons.hpp"
#include "store/tables.hpp"

#include <troupe/base/sizes.hpp>
#include <troupe/store/object_store.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>
#include <ostream>

namespace troupe::tools {

namespace {

enum class object_order { size, age, id, creator };
enum class group_key { none, state, creator, holder, reason, call_site };

/// The command's options.
struct store_request {
  std::string store = "default";
  std::string directory = "/dev/shm";
  bool json = false;
  object_order sort = object_order::size;
  group_key group_by = group_key::none;
  std::string object;
  bool all = false;
};

/// Streams for the results and the errors, and the exit status.
struct store_answer {
  std::ostream& out;
  std::ostream& err;
  int& status;

  void fail(const std::string& why) {
    err << "troupe: " << why << '\n';
    status = 1;
  }
};

void sort(std::vector<store::object_row>& objects, object_order key) {
  switch (key) {
  case object_order::size:
    std::ranges::stable_sort(objects, std::ranges::greater{}, &store::object_row::size_bytes);
    break;
  case object_order::age:
    std::ranges::stable_sort(objects, std::ranges::greater{}, &store::object_row::age);
    break;
  case object_order::id:
    std::ranges::stable_sort(objects, {}, &store::object_row::id);
    break;
  case object_order::creator:
    std::ranges::stable_sort(objects, {}, &store::object_row::creator);
    break;
  }
}

/// The groups of an object. An object held by several processes counts in the group of each.
[[nodiscard]] std::vector<std::string> groups_of(const store::object_row& object, group_key key) {
  switch (key) {
  case group_key::state:
    return {std::string{to_string(object.state)}};
  case group_key::creator:
    return {std::to_string(object.creator)};
  case group_key::holder: {
    auto names = std::vector<std::string>{};
    for (const auto holder : object.holders)
      names.push_back(std::to_string(holder));
    if (names.empty())
      names.emplace_back("nobody");
    return names;
  }
  case group_key::call_site:
    return {object.call_site.empty() ? "not recorded" : object.call_site};
  default:
    return {std::string{to_string(main_reason(object))}};
  }
}

void show_stores(const store_request& asked, store_answer to) {
  const auto stores = store::find_stores(asked.directory);
  to.out << (asked.json ? json_of(stores) : text_of(stores));
}

/// Calls `show(summary)` with the store's summary, or reports why it cannot be read.
template <class Show>
void with_summary(const store_request& asked, store_answer to, Show show) {
  auto summary = store::inspect(asked.store, asked.directory);
  if (summary)
    show(*summary);
  else
    to.fail(summary.error().message());
}

void show_objects(const store_request& asked, store_answer to) {
  with_summary(asked, to, [&](store::store_summary& summary) {
    if (asked.group_by != group_key::none) {
      const auto groups =
          grouped_by(summary.rows, [&](const store::object_row& each) { return groups_of(each, asked.group_by); });
      to.out << (asked.json ? json_of(groups) : text_of(groups));
      return;
    }
    sort(summary.rows, asked.sort);
    to.out << (asked.json ? json_of_objects(summary) : text_of_objects(summary));
  });
}

void show_totals(const store_request& asked, store_answer to) {
  with_summary(asked, to, [&](const store::store_summary& summary) {
    to.out << (asked.json ? json_of_totals(summary) : text_of_totals(summary));
  });
}

void show_object(const store_request& asked, store_answer to) {
  with_summary(asked, to, [&](const store::store_summary& summary) {
    const auto found =
        std::ranges::find(summary.rows, asked.object, [](const auto& object) { return to_string(object.id); });
    if (found == summary.rows.end())
      to.fail("store \"" + asked.store + "\" has no object " + asked.object + "; `troupe store list` shows all");
    else
      to.out << (asked.json ? json_of(*found, summary.processes) : text_of(*found, summary.processes));
  });
}

void verify(const store_request& asked, store_answer to) {
  auto settings = store::options{};
  settings.name = asked.store;
  settings.directory = asked.directory;
  settings.must_exist = true;
  const auto opened = store::object_store::open(settings);
  if (!opened)
    return to.fail(opened.error().message());
  const auto verified = opened->verify();
  if (!verified)
    return to.fail(verified.error().message());
  to.out << (asked.json ? "{\"whole\": true}\n" : "store \"" + asked.store + "\" is whole\n");
}

void clean_all(const store_request& asked, store_answer to) {
  const auto cleaned = store::clean_all(asked.directory);
  to.out << (asked.json ? json_of(cleaned) : text_of(cleaned));
  if (std::ranges::any_of(cleaned, [](const auto& each) { return !each.problem.empty(); }))
    to.status = 1;
}

void clean(const store_request& asked, store_answer to) {
  if (asked.all)
    return clean_all(asked, to);
  const auto cleaned = store::clean(asked.store, asked.directory);
  if (!cleaned && cleaned.error().code() == store::store_errc::not_found) {
    to.out << (asked.json ? "{\"removed\": false}\n" : "nothing to clean: " + cleaned.error().message() + '\n');
    return;
  }
  if (!cleaned)
    return to.fail(cleaned.error().message());
  if (asked.json)
    to.out << "{\"removed\": " << (*cleaned ? "false" : "true") << "}\n";
  else if (*cleaned)
    to.out << "store \"" << asked.store << "\" is in use; everything that dead processes held in it is free now\n";
  else
    to.out << "store \"" << asked.store << "\" is removed\n";
}

} // namespace

void add_store_command(CLI::App& app, std::ostream& out, std::ostream& err, int& status) {
  auto asked = std::make_shared<store_request>();
  auto to = store_answer{out, err, status};
  auto* const store =
      app.add_subcommand("store", "Inspects stores: their objects, and the reasons why each object is kept");
  store->require_subcommand(1);
  store->fallthrough(); // The options may follow the subcommand.
  store->add_option("-s,--store", asked->store, "The store's name")->capture_default_str();
  store->add_option("--directory", asked->directory, "Directory of the store's files")
      ->check(CLI::ExistingDirectory)
      ->capture_default_str()
      ->option_text("DIR");
  store->add_flag("--json", asked->json, "One JSON document instead of text");

  const auto add = [&](const char* name, const char* what, void (*run)(const store_request&, store_answer)) {
    auto* const command = store->add_subcommand(name, what);
    command->callback([asked, to, run] { run(*asked, to); });
    return command;
  };
  add("stores", "Lists this user's stores: in use, or left by dead processes", show_stores);
  auto* const list = add("list", "Lists the objects of a store", show_objects);
  list->add_option("--sort", asked->sort, "Order: size, age, id or creator")
      ->transform(by_name<object_order>({{"size", object_order::size},
                                         {"age", object_order::age},
                                         {"id", object_order::id},
                                         {"creator", object_order::creator}}))
      ->option_text("KEY");
  list->add_option("--group-by", asked->group_by, "One line for each state, creator, holder, reason or call-site")
      ->transform(by_name<group_key>({{"state", group_key::state},
                                      {"creator", group_key::creator},
                                      {"holder", group_key::holder},
                                      {"reason", group_key::reason},
                                      {"call-site", group_key::call_site}}))
      ->option_text("KEY");
  add("summary", "Shows the totals of a store", show_totals);
  add("show", "Shows one object, and everything that keeps it", show_object)
      ->add_option("object", asked->object, "The object's id, as `list` shows it")
      ->required();
  add("verify", "Checks the table of a store in use against all data that is derived from it", verify);
  add("clean", "Cleans up after dead processes; removes the store if no process has it open", clean)
      ->add_flag("--all", asked->all, "All of this user's stores, including those of other boots and layout versions");
}

} // namespace troupe::tools
