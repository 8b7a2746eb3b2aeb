// What the node's own actors do with the actors of its peers.
#include "player.hpp"

#include <algorithm>
#include <iterator>

#include <troupe/framework/link_ready.hpp>
#include <troupe/framework/spawn_request.hpp>

#include "decoding.hpp"

namespace fuzz {

using namespace troupe;
using namespace troupe::internal;

namespace {

caf::message message_of(std::uint8_t which, std::uint8_t value) {
  switch (which % 6) {
  case 0:
    return caf::make_message(static_cast<int>(value));
  case 1:
    return caf::make_message(std::string(value * 8u, 't'));
  case 2:
    return caf::make_message(std::vector<double>(value * 40u, 0.5));
  case 3:
    return caf::make_message(static_cast<int>(value), std::string{"and"}, reading{"roof", 1, {1, 2}});
  case 4:
    return caf::make_message(caf::make_error(caf::sec::runtime_error));
  default:
    return caf::make_message(std::vector<std::byte>(value * 400u, std::byte{1})); // Some are sent in chunks.
  }
}

} // namespace

/// Runs `what` with one of the peers' actors that the keeper has received.
void player::act_on_kept(script& in, const std::function<void(caf::event_based_actor*, const caf::actor&)>& what) {
  const auto all = home_.kept();
  const auto which = in.byte();
  if (all.empty())
    return;
  home_.act([&](auto* self) { what(self, caf::actor_cast<caf::actor>(all[which % all.size()])); });
}

bool player::take_node_step(step what, script& in) {
  auto& one = current();
  switch (what) {
  case step::send: {
    const auto content = message_of(in.byte(), in.byte());
    act_on_kept(in, [&](auto* self, const auto& whom) { self->send(whom, content); });
    return true;
  }
  case step::request: {
    const auto content = message_of(in.byte(), in.byte());
    act_on_kept(in, [&](auto* self, const auto& whom) {
      self->request(whom, caf::infinite, content).then([](int) {}, [](caf::error&) {});
      notify_when_ready(self, whom);
    });
    return true;
  }
  case step::ask_names:
    home_.act([&](auto* self) {
      self->request(one.link()->names_there().finder_of("any", {}, std::chrono::seconds(1)), caf::infinite, caf::unit)
          .then([this](const caf::strong_actor_ptr& found) { home_.keep(found); }, [](caf::error&) {});
    });
    return true;
  case step::watch:
    act_on_kept(in, [&](auto* self, const auto& whom) {
      if (in.byte() < 160)
        self->monitor(whom);
      else
        self->demonitor(whom.address());
    });
    return true;
  case step::link_to:
    act_on_kept(in, [&](auto* self, const auto& whom) {
      if (in.byte() < 160)
        self->link_to(whom);
      else
        self->unlink_from(whom.address());
    });
    return true;
  case step::send_exit:
    act_on_kept(in, [](auto* self, const auto& whom) { self->send_exit(whom, caf::exit_reason::user_shutdown); });
    return true;
  case step::drop_kept:
    home_.drop_kept(in.byte());
    return true;
  case step::publish_kept:
    home_.publish_kept(in.byte());
    return true;
  case step::change_lists: {
    link_changes changes{.serializers = families(in), .deserializers = families(in)};
    static_cast<void>(one.link()->changes().reconfigure(changes, 0ms));
    return true;
  }
  case step::forget:
    home_.forget();
    return true;
  case step::end_actor:
    caf::anon_send_exit(home_.actor(in.byte() % home::names.size()), caf::exit_reason::user_shutdown);
    return true;
  case step::use_helpers: {
    const auto how = in.byte();
    home_.act([&](auto* self) {
      const auto helper = (how & 1) != 0 ? one.link()->helpers_there().spawner() : caf::actor{};
      if (helper)
        self->request(helper, caf::infinite, spawn_call{.name = "any", .interface = {}}, static_cast<int>(how))
            .then([this](const caf::strong_actor_ptr& made) { home_.keep(made); }, [](caf::error&) {});
    });
    return true;
  }
  case step::close:
    one.link()->close("the script says so", 1s);
    return true;
  default:
    return false;
  }
}

} // namespace fuzz
