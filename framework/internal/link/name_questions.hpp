// This end's questions for actors of the peer by name.
#pragma once

#include <cstdint>
#include <expected>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include <troupe/framework/internal/caf_port/actor_systems.hpp>

#include <troupe/framework/internal/caf_port/actors/finder.hpp>
#include <troupe/framework/internal/link/actor_names.hpp>
#include <troupe/framework/internal/link/link_common.hpp>
#include <troupe/framework/internal/wire/admin.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

/// Asks the peer for actors by name.
///
/// Threads: any for `ask` and `forget`; the I/O thread for the rest.
class name_questions {
public:
  /// `actors` must outlive this object.
  name_questions(const link_common& link, caf::actor_system& system, actor_names& actors)
      : link_(link), system_(system), actors_(actors) {}

  /// Asks once. Calls `then` once, at once or on the I/O thread. Returns the question's number, or 0 if none was asked.
  std::uint64_t ask(std::string_view name, const std::set<std::string>& interface, on_lookup then);
  /// Drops the question. Returns false if its answer has come.
  bool forget(std::uint64_t number);

  /// Whether every question is answered.
  [[nodiscard]] bool is_idle(const link_held&) const noexcept { return questions_.empty(); }

  std::expected<void, node_error> on_found(const found& answer);

  /// Answers every open question with `reason`, because the link has ended.
  void end(const node_error& reason);

private:
  struct question {
    std::string name;
    std::set<std::string> interface;
    on_lookup then;
  };

  [[nodiscard]] std::expected<caf::strong_actor_ptr, node_error> actor_of(const question& asked, const found& answer);
  void log(const question& asked, const std::string& came_to) const;

  const link_common& link_;
  caf::actor_system& system_;
  actor_names& actors_;
  // Guarded by the link's lock.
  std::unordered_map<std::uint64_t, question> questions_;
  std::uint64_t next_ = 1;
};

} // namespace troupe::internal
