// The actor that supervises children.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include <troupe/framework/internal/supervision/child_kind.hpp>
#include <troupe/framework/internal/supervision/event_teller.hpp>
#include <troupe/framework/internal/supervision/restart_rules.hpp>
#include <troupe/framework/internal/supervision/roster.hpp>
#include <troupe/framework/internal/supervision/roster_view.hpp>
#include <troupe/framework/supervisor_options.hpp>

namespace troupe::internal {

/// One child as the program describes it.
struct child_spec {
  child_options options;
  std::shared_ptr<const child_kind> kind;
};

/// What a supervisor is made of. The names of the children are final, and no child has copies.
struct supervisor_spec {
  supervisor_options options;
  std::vector<child_spec> children;
  std::vector<std::string> groups; // For each child, the name that it shares with its copies.
};

/// Where a supervisor belongs, if it is a child itself.
struct supervisor_origin {
  std::uint64_t parent = 0; // The id of its supervisor; 0: none.
  std::string name = {};    // That its supervisor has given to it.
};

/// Carries out the decisions of restart_rules: starts and stops children, measures time, and tells about it.
///
/// The actor keeps itself alive until it is told to end. An exit message of any sender stops all children, and then the
/// supervisor, with the same reason. It needs no thread of its own.
class supervisor_actor final : public caf::event_based_actor {
public:
  supervisor_actor(caf::actor_config& config, const supervisor_spec& spec, std::shared_ptr<internal::roster> roster,
                   supervisor_origin origin);

  caf::behavior make_behavior() override;
  void on_exit() override;

private:
  struct child {
    std::string name;
    child_options options;
    std::shared_ptr<const child_kind> kind;
    std::shared_ptr<child_run> run; // Null if the child is down.
    std::uint64_t number = 0;       // Of the run.
    bool is_running = false;
    bool is_stopping = false;
    bool is_late = false; // Killed, because it had not started in time.
    std::size_t starts = 0;
  };

  void carry_out(const restart_rules::steps& steps);
  void start(std::size_t which);
  void stop(std::size_t which);
  void pause(const supervision_step& step);
  void give_up(std::size_t which);
  void handle(std::size_t which, std::uint64_t number, const child_news& news);
  void handle_start(std::size_t which, const caf::actor& actor);
  void handle_end(std::size_t which, const child_end& end);
  void start_is_late(std::size_t which, std::uint64_t number);
  void stop_is_late(std::size_t which, std::uint64_t number);
  void kill_is_late(std::size_t which, std::uint64_t number);
  void shut_down(caf::error reason);
  void finish();
  [[nodiscard]] supervisor_event event_of(supervisor_event::kind what, std::size_t which) const;
  [[nodiscard]] supervision_time now() const;
  [[nodiscard]] news_sink sink_of(std::size_t which, std::uint64_t number);
  void keep_reason(const std::string& of, const node_error& reason);

  const std::chrono::milliseconds within_;
  const std::size_t most_;
  const event_teller events_;
  const std::shared_ptr<internal::roster> roster_;
  std::shared_ptr<const roster_view> view_; // Until the end.
  std::vector<child> children_;
  restart_rules rules_;
  std::uint64_t last_number_ = 0;
  std::deque<std::string> last_reasons_; // The newest last.
  caf::error end_reason_;
  caf::strong_actor_ptr itself_; // Null once it has ended.
};

/// A supervisor that ends normally when its children are stopped, so that its owner lives on.
void stop_supervisor(const caf::actor& supervisor);

/// Children that are supervisors.
[[nodiscard]] std::shared_ptr<const child_kind> supervisor_kind(supervisor_spec spec);

[[nodiscard]] caf::actor spawn_supervisor(caf::actor_system& system, const supervisor_spec& spec,
                                          std::shared_ptr<roster> roster, supervisor_origin origin = {});

[[nodiscard]] std::shared_ptr<roster> roster_of(const supervisor_spec& spec);

} // namespace troupe::internal
