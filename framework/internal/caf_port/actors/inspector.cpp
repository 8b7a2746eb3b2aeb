#include <troupe/framework/internal/caf_port/actors/inspector.hpp>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include <caf/actor.hpp>
#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/make_message.hpp>
#include <caf/message.hpp>

#include <troupe/framework/internal/caf_port/actors/request_runner.hpp>
#include <troupe/framework/internal/caf_port/asker.hpp>
#include <troupe/framework/message_types.hpp>
#include <troupe/framework/node_error.hpp>

namespace troupe::internal {

namespace {

template <class Answer, class Query, class... More>
request_outcome answer(const std::function<std::expected<Answer, node_error>(const Query&, More...)>& by,
                       const Query& query, const char* permission, const std::string& role,
                       std::type_identity_t<More>... more) {
  if (!by)
    return to_caf_error(
        {node_errc::not_allowed, role.empty()
                                     ? std::string{"this node's end of the link does not allow this question; it must "
                                                   "have "}
                                           + permission
                                     : "this node does not allow this question to the role \"" + role
                                           + "\"; its accepted_links.roles must give " + permission + " to this role"});
  auto known = by(query, more...);
  if (!known)
    return to_caf_error(known.error());
  return caf::make_message(*std::move(known));
}

bool is_order(const caf::message& request) {
  return request.size() == 1 && request.match_element<node_order>(0);
}

/// The link over which the sender's messages come; null if it is of this process.
const proxy_link* link_of(const caf::strong_actor_ptr& sender) {
  const auto* const from = sender ? as_proxy(itself(sender)) : nullptr;
  return from != nullptr ? from->link() : nullptr;
}

std::string peer_text_of(const caf::strong_actor_ptr& sender) {
  const auto* const link = link_of(sender);
  return link != nullptr ? link->peer_text() : "this process";
}

/// Counts the answers that are being made.
class answer_count : public std::enable_shared_from_this<answer_count> {
public:
  /// `link` is null if the question comes from this process.
  [[nodiscard]] std::expected<std::shared_ptr<void>, node_error> enter(const void* link) {
    std::lock_guard guard{mutex_};
    const auto known = by_link_.find(link);
    const auto refuse = [](const char* where, std::size_t limit) {
      return std::unexpected{node_error{node_errc::link_busy, "too many queries about this node run at once "
                                                                  + std::string{where} + ", limit "
                                                                  + std::to_string(limit) + "; ask again"}};
    };
    if (known != by_link_.end() && known->second >= queries_per_link_max)
      return refuse("for this link", queries_per_link_max);
    if (all_ >= queries_max)
      return refuse("for all its links", queries_max);
    ++by_link_[link];
    ++all_;
    return std::shared_ptr<void>{nullptr, [self = shared_from_this(), link](void*) { self->leave(link); }};
  }

private:
  void leave(const void* link) {
    std::lock_guard guard{mutex_};
    --all_;
    if (--by_link_[link] == 0)
      by_link_.erase(link);
  }

  std::mutex mutex_;
  // Guarded by mutex_.
  std::map<const void*, std::size_t> by_link_; // Links serve only as keys.
  std::size_t all_ = 0;
};

} // namespace

caf::actor spawn_inspector(caf::actor_system& system, query_answers answers) {
  auto run = [answers = std::move(answers)](const caf::message& request,
                                            const caf::strong_actor_ptr& sender) -> request_outcome {
    if (request.size() == 1 && request.match_element<memory_query>(0))
      return answer(answers.memory, request.get_as<memory_query>(0), "allow_memory_summary", answers.role);
    if (request.size() == 1 && request.match_element<report_query>(0))
      return answer(answers.report, request.get_as<report_query>(0), "allow_report", answers.role);
    if (request.size() == 1 && request.match_element<activity_query>(0))
      return answer(answers.activity, request.get_as<activity_query>(0), "allow_report", answers.role);
    if (request.size() == 1 && request.match_element<recording_query>(0))
      return answer(answers.recording, request.get_as<recording_query>(0), "allow_recording", answers.role);
    if (is_order(request))
      return answer(answers.order, request.get_as<node_order>(0), "allow_orders", answers.role, peer_text_of(sender));
    return to_caf_error({node_errc::unsupported, "the inspector of a link answers only link::memory_summary, "
                                                 "link::report, link::activity, link::order and record_peer"});
  };
  auto admit = [count = std::make_shared<answer_count>()](const caf::strong_actor_ptr& sender) {
    return count->enter(link_of(sender));
  };
  return spawn_request_runner(system, std::move(run), std::move(admit), is_order);
}

} // namespace troupe::internal
