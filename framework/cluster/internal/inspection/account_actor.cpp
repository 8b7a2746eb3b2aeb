#include <troupe/framework/cluster/internal/inspection/account_actor.hpp>

#include <string>
#include <vector>

#include <caf/event_based_actor.hpp>
#include <caf/response_promise.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_response_promise.hpp>

#include <troupe/framework/cluster/internal/inspection/account_record.hpp>
#include <troupe/framework/node_error.hpp>

namespace troupe::membership {

namespace {

// Peers that ask at the same time; further ones are refused.
constexpr std::size_t askers_max = 64;

struct given_account {
  std::string record;
};

struct account_state {
  std::vector<caf::response_promise> waiting;
};

} // namespace

} // namespace troupe::membership

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::membership::given_account)

namespace troupe::membership {

caf::actor spawn_account_actor(caf::actor_system& system, account_source source) {
  return system.spawn<caf::hidden>(
      [source = std::move(source)](caf::stateful_actor<account_state>* self) -> caf::behavior {
        return {[self, source](const std::string& question) -> caf::result<std::string> {
                  auto promise = self->make_response_promise();
                  if (question != account_question) {
                    promise.deliver(to_caf_error({node_errc::bad_option, "this actor answers the text \"account\""}));
                    return caf::delegated<std::string>{};
                  }
                  if (self->state.waiting.size() >= askers_max) {
                    promise.deliver(
                        to_caf_error({node_errc::link_busy, "64 others wait for this member's account: ask again "
                                                            "in some seconds"}));
                    return caf::delegated<std::string>{};
                  }
                  self->state.waiting.push_back(promise);
                  if (self->state.waiting.size() == 1)
                    source([weak = caf::actor_cast<caf::weak_actor_ptr>(self)](const member_account& account) {
                      if (const auto strong = weak.lock())
                        caf::anon_send(caf::actor_cast<caf::actor>(strong), given_account{account_record(account)});
                    });
                  return caf::delegated<std::string>{};
                },
                [self](const given_account& account) {
                  for (auto& each : std::exchange(self->state.waiting, {}))
                    each.deliver(account.record);
                }};
      });
}

} // namespace troupe::membership
