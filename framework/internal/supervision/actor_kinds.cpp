#include <troupe/framework/internal/supervision/actor_kinds.hpp>

#include <chrono>
#include <string>
#include <utility>

#include <troupe/framework/internal/supervision/actor_run.hpp>
#include <troupe/framework/node_error.hpp>

namespace troupe::internal {

namespace {

/// How much longer than its start an answer to a request for a new actor may take. An actor that comes too late is
/// killed.
constexpr std::chrono::minutes late_answer_patience{10};

class local final : public child_kind {
public:
  explicit local(std::function<caf::actor(caf::actor_system&)> spawn) : spawn_(std::move(spawn)) {}

  std::shared_ptr<child_run> start(caf::event_based_actor& supervisor, const std::string&, std::chrono::milliseconds,
                                   news_sink news) const override {
    auto run = std::make_shared<actor_run>(std::move(news));
    try {
      run->begin(spawn_(supervisor.system()));
    } catch (...) {
      run->fail(start_thrown_by("the child's function"));
    }
    return run;
  }
  std::string_view name() const override { return "actor"; }

private:
  const std::function<caf::actor(caf::actor_system&)> spawn_;
};

class remote final : public child_kind {
public:
  remote(link_source current, remote_spawn spawn) : current_(std::move(current)), spawn_(std::move(spawn)) {}

  std::shared_ptr<child_run> start(caf::event_based_actor& supervisor, const std::string&,
                                   std::chrono::milliseconds within, news_sink news) const override {
    auto run = std::make_shared<actor_run>(std::move(news));
    try {
      const auto over = current_();
      if (!over || !over->is_open())
        run->fail({node_errc::link_down, over ? "the link to " + over->peer_name() + " is down" : "no link is open"});
      else
        spawn(*over, supervisor, within, run);
    } catch (...) {
      run->fail(start_thrown_by("the function that gives the link"));
    }
    return run;
  }
  std::string_view name() const override { return "remote actor"; }

private:
  void spawn(const link& over, caf::event_based_actor& supervisor, std::chrono::milliseconds within,
             const std::shared_ptr<actor_run>& run) const {
    spawn_(over)
        .request(&supervisor, within + late_answer_patience)
        .then(
            [weak = std::weak_ptr{run}](const caf::strong_actor_ptr& spawned) {
              auto actor = caf::actor_cast<caf::actor>(spawned);
              if (const auto waits = weak.lock())
                waits->begin(std::move(actor));
              else if (actor)
                caf::anon_send_exit(actor, caf::exit_reason::kill);
            },
            [weak = std::weak_ptr{run}](const caf::error& why) {
              if (const auto waits = weak.lock())
                waits->fail(to_node_error(why));
            });
  }

  const link_source current_;
  const remote_spawn spawn_;
};

} // namespace

std::shared_ptr<const child_kind> local_kind(std::function<caf::actor(caf::actor_system&)> spawn) {
  return std::make_shared<local>(std::move(spawn));
}

std::shared_ptr<const child_kind> remote_kind(link_source current, remote_spawn spawn) {
  return std::make_shared<remote>(std::move(current), std::move(spawn));
}

} // namespace troupe::internal
