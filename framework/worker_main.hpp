// The main function of a program that troupe::worker_process starts.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <caf/fwd.hpp>

#include <troupe/base/export.hpp>
#include <troupe/framework/fwd.hpp>
#include <troupe/framework/link_options.hpp>
#include <troupe/framework/options.hpp>
#include <troupe/framework/publication.hpp>
#include <troupe/framework/system_config.hpp>
#include <troupe/serializers/family.hpp>
#include <troupe/serializers/type_registry.hpp>

namespace troupe {

/// What a worker consists of, before its actor system exists. The function given to worker_main changes it.
///
/// Threads: one.
struct worker_setup {
  /// The program's arguments, without its name.
  std::vector<std::string> arguments = {};
  type_registry types = {};
  family_set families = {};
  system_config config = {};
  /// The name is that of worker_options. If the starting node has a store, this node opens the same one; otherwise it
  /// opens none.
  node_options node = {};
  /// This end's options of the link. The process that has started this one may spawn actors here, run tasks, end actors
  /// by exit messages and ask for reports, because it can end or replace the program anyway.
  link_options link{
      .allow_spawn = true, .allow_tasks = true, .allow_exit = true, .allow_memory_summary = true, .allow_report = true};
  /// Called once the link is open, on the thread that called worker_main. The worker ends when it returns; its result
  /// is the exit status. It should return soon after the link has ended. Empty: the worker runs until the link ends,
  /// with exit status 0.
  std::function<int(caf::actor_system& system, class node& node, class link& link)> run = {};
  /// The time that the worker has to end once its link or its parent has ended: `run`, the actors and the actor system.
  /// Then the process ends at once with status 1. Not negative.
  std::chrono::milliseconds end_timeout = std::chrono::seconds(4);

  /// Lets the starting process spawn this kind of actor by link::spawn(name, arguments...). As CAF's add_actor_type:
  /// a function or function object that returns a behavior, or with `Class` an actor's class and the types of its
  /// constructor's arguments.
  template <class Function>
  void actor(std::string name, Function make) {
    config.add_actor_type(std::move(name), std::move(make));
  }
  template <class Class, class... Arguments>
  void actor(std::string name) {
    config.add_actor_type<Class, Arguments...>(std::move(name));
  }

  /// Publishes an actor before the link opens, so that link::find(name) of the starting process finds it from the
  /// start. `source` is a function that returns a handle and takes the actor system or nothing (publication.hpp).
  template <class Source>
  void publish(std::string name, Source source) {
    auto names = *node.publish;
    names.emplace_back(std::move(name), std::move(source));
    node.publish = std::move(names);
  }
};

/// Runs this process as a worker of the process that has started it by worker_process: opens a node, links it with that
/// process, and ends when the link ends. Returns the exit status for main.
///
/// If a worker_process has not started this process, it prints so and returns 2. If the node or the link cannot be
/// opened, or `setup` throws, it prints why and returns 1. worker_options::output of the starting process gets these
/// lines.
///
/// If the parent has ended, it does not return: the process ends with status 1.
///
/// Call it before the program starts threads. It removes the variable TROUPE_WORKER from the environment, and keeps the
/// socket from the programs that this one starts.
///
///     int main(int argc, char** argv) {
///       return troupe::worker_main(argc, argv, [](troupe::worker_setup& w) { w.actor("squarer", squarer); });
///     }
///
///     int main(int argc, char** argv) {
///       return troupe::worker_main(argc, argv, [](troupe::worker_setup& w) {
///         w.types.add<reading>("weather.reading");
///         w.publish("meter", [](caf::actor_system& system) { return system.spawn(meter); });
///       });
///     }
[[nodiscard]] TROUPE_EXPORT int worker_main(int argument_count, char** arguments,
                                            const std::function<void(worker_setup&)>& setup);

/// Whether a worker_process has started this process, and worker_main was not called yet. For programs that start
/// themselves as workers.
[[nodiscard]] TROUPE_EXPORT bool is_worker();

} // namespace troupe
