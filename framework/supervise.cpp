#include <troupe/framework/supervise.hpp>

#include <algorithm>
#include <map>
#include <set>

#include <troupe/base/longest_wait.hpp>
#include <troupe/framework/internal/caf_port/actors/end_watch.hpp>
#include <troupe/framework/internal/caf_port/messages.hpp>
#include <troupe/framework/internal/supervision/actor_kinds.hpp>
#include <troupe/framework/internal/supervision/pool_actor.hpp>
#include <troupe/framework/internal/supervision/process_kind.hpp>
#include <troupe/framework/internal/supervision/supervisor_actor.hpp>
#include <troupe/framework/internal/words/failing.hpp>
#include <troupe/framework/internal/workers/worker_start.hpp>
#include <troupe/framework/node.hpp>

namespace troupe {

using internal::bad_option;

// -- team --

team::team(caf::actor supervisor, std::shared_ptr<internal::roster> roster)
    : supervisor_(std::move(supervisor)), roster_(std::move(roster)) {}

std::vector<child_status> team::children() const {
  std::vector<child_status> all;
  for (auto& one : roster_->now().children)
    all.push_back({.name = std::move(one.name),
                   .is_running = one.is_running,
                   .handle = std::move(one.handle),
                   .starts = one.starts,
                   .since = one.since,
                   .last_reason = std::move(one.last_reason)});
  return all;
}

std::expected<pool, node_error> team::pool(pool_options options) const {
  auto good = internal::checked(std::move(options));
  if (!good)
    return std::unexpected{std::move(good).error()};
  std::vector<std::size_t> members;
  const auto children = roster_->now().children;
  for (std::size_t i = 0; i < children.size(); ++i)
    if (good->children.empty() || good->children == children[i].group)
      members.push_back(i);
  if (members.empty())
    return bad_option("pool_options::children is '" + good->children + "', but no child has this name");
  auto& system = caf::actor_cast<caf::abstract_actor*>(supervisor_)->home_system();
  return troupe::pool{internal::make_pool(system, roster_, std::move(members), *std::move(good))};
}

void team::stop() const {
  internal::stop_supervisor(supervisor_);
}

// -- supervision --

struct supervision::parts {
  struct child {
    std::string default_name;
    child_options options;
    std::shared_ptr<const internal::child_kind> kind;
  };

  caf::local_actor* owner = nullptr; // Null in the description of a child.
  bool owner_blocks = false;
  supervisor_options options;
  std::vector<child> children;
  std::optional<node_error> problem; // Of the description of a child that is a supervisor.
};

supervision::supervision(caf::local_actor& owner, bool owner_blocks, supervisor_options options)
    : parts_(std::make_unique<parts>(parts{
        .owner = &owner, .owner_blocks = owner_blocks, .options = std::move(options), .children = {}, .problem = {}})) {
}

supervision::supervision(supervisor_options options)
    : parts_(std::make_unique<parts>(
        parts{.owner = nullptr, .options = std::move(options), .children = {}, .problem = {}})) {}

supervision::supervision(supervision&&) noexcept = default;

supervision::~supervision() = default;

supervision& supervision::add(std::string name, std::shared_ptr<const internal::child_kind> kind) {
  parts_->children.push_back({std::move(name), {}, std::move(kind)});
  return *this;
}

supervision& supervision::add_local(std::function<caf::actor(caf::actor_system&)> spawn) {
  return add("child", internal::local_kind(std::move(spawn)));
}

supervision& supervision::add_remote(std::function<std::optional<link>()> over, std::string type,
                                     std::function<spawn_request<caf::actor>(const link&)> spawn) {
  return add(std::move(type), internal::remote_kind(std::move(over), std::move(spawn)));
}

supervision& supervision::process(node& with, worker_options options, hosted_actor hosts) {
  auto name = internal::name_of_worker(options);
  auto kind = internal::process_kind(with.core(), std::move(options), std::move(hosts));
  if (kind)
    return add(std::move(name), *std::move(kind));
  if (!parts_->problem)
    parts_->problem = std::move(kind).error();
  return *this;
}

supervision& supervision::supervisor(supervisor_options options, const std::function<void(supervision&)>& describe) {
  supervision inner{std::move(options)};
  describe(inner);
  auto spec = inner.finished_spec();
  if (spec)
    return add("supervisor", internal::supervisor_kind(*std::move(spec)));
  if (!parts_->problem)
    parts_->problem = std::move(spec).error();
  return *this;
}

supervision& supervision::with(child_options options) {
  if (!parts_->children.empty())
    parts_->children.back().options = std::move(options);
  else if (!parts_->problem)
    parts_->problem = {node_errc::bad_option, "supervision::with comes before the first child"};
  return *this;
}

namespace {

std::string problem_of_options(const supervisor_options& options) {
  if (options.within.count() < 1)
    return "supervisor_options::within of " + std::to_string(options.within.count()) + " ms: it is at least 1 ms";
  if (options.back_off.count() < 0)
    return "supervisor_options::back_off of " + std::to_string(options.back_off.count()) + " ms is negative";
  if (options.longest_back_off < options.back_off)
    return "supervisor_options::longest_back_off of " + std::to_string(options.longest_back_off.count())
           + " ms is shorter than back_off of " + std::to_string(options.back_off.count()) + " ms";
  return {};
}

std::string problem_of_child(const child_options& options, const std::string& name) {
  if (options.stop_within && options.stop_within->count() < 0)
    return "child_options::stop_within of '" + name + "' is " + std::to_string(options.stop_within->count())
           + " ms: it is not negative";
  if (options.copies < 1)
    return "child_options::copies of '" + name + "' is 0";
  if (options.start_within.count() < 1)
    return "child_options::start_within of '" + name + "' is " + std::to_string(options.start_within.count())
           + " ms: it is at least 1 ms";
  return {};
}

} // namespace

std::expected<internal::supervisor_spec, node_error> supervision::finished_spec() const {
  if (parts_->problem)
    return std::unexpected{*parts_->problem};
  if (auto problem = problem_of_options(parts_->options); !problem.empty())
    return bad_option(std::move(problem));
  if (parts_->children.empty())
    return bad_option("the supervisor has no children; add one with function, actor, process or supervisor");
  std::map<std::string, std::size_t> unnamed; // How many children have this default name.
  for (const auto& one : parts_->children)
    if (one.options.name.empty())
      ++unnamed[one.default_name];
  std::map<std::string, std::size_t> numbers;
  std::set<std::string> names;
  internal::supervisor_spec spec{.options = parts_->options, .children = {}, .groups = {}};
  for (const auto& one : parts_->children) {
    const auto is_named = !one.options.name.empty();
    const auto& base = is_named ? one.options.name : one.default_name;
    if (auto problem = problem_of_child(one.options, base); !problem.empty())
      return bad_option(std::move(problem));
    const auto is_numbered = one.options.copies > 1 || (!is_named && unnamed[base] > 1);
    for (std::size_t copy = 0; copy < one.options.copies; ++copy) {
      auto options = one.options;
      options.copies = 1;
      options.start_within = bounded_wait(options.start_within);
      if (options.stop_within)
        options.stop_within = bounded_wait(*options.stop_within);
      options.name = is_numbered ? base + '-' + std::to_string(++numbers[base]) : base;
      if (!names.insert(options.name).second)
        return bad_option("two children are named '" + options.name + "'; choose other names with child_options::name");
      spec.children.push_back({std::move(options), one.kind});
      spec.groups.push_back(base);
    }
  }
  return spec;
}

std::expected<team, node_error> supervision::start() {
  if (parts_->owner == nullptr)
    return bad_option("supervision::start must not be called in the description of a child");
  auto spec = finished_spec();
  if (!spec)
    return std::unexpected{std::move(spec).error()};
  auto roster = internal::roster_of(*spec);
  auto& owner = *parts_->owner;
  auto supervisor = internal::spawn_supervisor(owner.system(), *spec, roster);
  if (!parts_->owner_blocks) {
    owner.link_to(supervisor);
  } else {
    owner.monitor(supervisor);
    // Weak: the owner may outlive many supervisors.
    internal::watch_end(caf::strong_actor_ptr{owner.ctrl()}, roster.get(),
                        [weak = caf::actor_cast<caf::weak_actor_ptr>(supervisor)](const caf::error&) {
                          if (const auto running = caf::actor_cast<caf::actor>(weak))
                            caf::anon_send_exit(running, caf::exit_reason::user_shutdown);
                        });
  }
  return team{std::move(supervisor), std::move(roster)};
}

} // namespace troupe
