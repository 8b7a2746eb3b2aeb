#include "worker.hpp"

#include "messages.hpp"
#include "word_table.hpp"
#include "worker_processes.hpp"

#include <troupe/troupe.hpp>

#include <csignal>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>

namespace wordcount {

namespace {

int fail(std::size_t worker, const std::string& why) {
  std::fprintf(stderr, "wordcount: worker %zu: %s\n", worker, why.c_str());
  return 1;
}

/// Counts blocks until the coordinator, or the link to it, is gone.
class counter : public caf::event_based_actor {
public:
  counter(caf::actor_config& config, caf::actor coordinator, registration mine, std::optional<fault> planned)
      : caf::event_based_actor(config),
        coordinator_(std::move(coordinator)),
        registration_(std::move(mine)),
        fault_(planned) {
    set_down_handler([this](const caf::down_msg&) { quit(); });
  }

  caf::behavior make_behavior() override {
    monitor(coordinator_);
    registration_.counter = caf::actor{this};
    request(coordinator_, caf::infinite, std::exchange(registration_, {}))
        .then([] {}, [this](caf::error& why) { quit(std::move(why)); });
    return {[this](const text_block& block) { return count(block); }};
  }

private:
  caf::result<block_counts> count(const text_block& block) {
    if (fault_ && fault_->strikes(++blocks_))
      return caf::make_error(caf::sec::runtime_error, "a fault that was asked for");
    const auto text = block.text.get(); // A view of the store's own memory.
    if (!text)
      return troupe::to_caf_error(text.error());
    return count_words(block.number, {text->data(), text->size()}, table_);
  }

  const caf::actor coordinator_;
  registration registration_;
  const std::optional<fault> fault_;
  std::size_t blocks_ = 0; // Blocks received so far.
  word_table table_;
};

} // namespace

int run_worker(const options& with, const troupe::family_set& families) {
  const auto& [number, store_name] = *with.assignment;
  // Control-C reaches the whole process group, but the coordinator ends the job in order.
  for (const auto signal : {SIGINT, SIGQUIT, SIGHUP})
    std::signal(signal, SIG_IGN);
  const auto told = wait_to_begin();
  if (!told) { // The coordinator was killed. If it left a store behind, opening and closing the store cleans it up.
    [[maybe_unused]] const auto cleared = troupe::store::object_store::open({.name = store_name});
    return 1;
  }
  std::optional<fault> planned;
  if (const auto found = with.faults.find(number); found != with.faults.end())
    planned = found->second;
  if (planned && planned->strikes(0))
    return fail(number, "a fault that was asked for");

  troupe::type_registry types;
  add_message_types(types);
  troupe::system_config config;
  config.set("scheduler.max-threads", std::size_t{1}); // Each core has its own worker.
  caf::actor_system system{config};
  auto node = troupe::node::open(system, types, families,
                                 {.name = worker_name(number), .store = troupe::store::options{.name = store_name}});
  if (!node)
    return fail(number, node.error().message());
  const auto store = *node->store();
  auto link = node->connect(told->address, link_policy(with.families, told->secret));
  if (!link)
    return fail(number, link.error().message());
  auto coordinator = link->find(coordinator_name);
  if (!coordinator)
    return fail(number, coordinator.error().message());

  caf::scoped_actor self{system};
  auto counting =
      system.spawn<counter>(*std::move(coordinator), registration{number, {}, link->serializers()}, planned);
  self->wait_for(counting);
  { const auto ending = *std::move(node); }
  wait_to_end(); // Keeps the store open until then.
  return 0;
}

} // namespace wordcount
