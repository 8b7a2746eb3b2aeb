#include "home.hpp"

#include <algorithm>
#include <future>
#include <stdexcept>
#include <thread>

#include <asio/io_context.hpp>
#include <asio/post.hpp>

#include <troupe/framework/log.hpp>

#include "decoding.hpp"

namespace fuzz {

/// Messages between a home's own actors; no link carries them.
struct forget_all {};
struct command {
  std::shared_ptr<std::function<void(caf::event_based_actor*)>> run;
};

} // namespace fuzz

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fuzz::forget_all)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fuzz::command)

namespace fuzz {

using namespace troupe;
using namespace troupe::internal;

namespace {

int add(int one, int other) {
  return static_cast<int>(static_cast<unsigned>(one) + static_cast<unsigned>(other));
}

int fail(int) {
  throw std::runtime_error("it always does");
}

caf::behavior counter(caf::event_based_actor*, int begin) {
  return {[begin](int more) { return add(begin, more); }};
}

/// Peers write most of the text in log lines.
void expect_harmless(log_level, std::string_view line) {
  constexpr std::size_t line_bytes_max = 4096;
  expect(line.size() <= line_bytes_max, "a line of the log is too long");
  expect(std::ranges::all_of(line, [](unsigned char each) { return each >= 0x20 && each != 0x7f; }),
         "a line of the log steers a terminal", line);
}

caf::behavior echo(caf::event_based_actor* self) {
  self->set_default_handler([self](caf::scheduled_actor* me, caf::message_view& what) -> caf::result<caf::message> {
    const auto& sender = self->current_sender();
    if (!self->current_message_id().is_request() && sender && sender->get() == self)
      return caf::message{}; // A peer has made it its own sender: the echo would never end.
    return caf::reflect(me, what);
  });
  return {[](forget_all) {}};
}

caf::behavior quiet(caf::stateful_actor<std::vector<caf::response_promise>>* self) {
  self->set_default_handler([self](caf::scheduled_actor*, caf::message_view&) -> caf::result<caf::message> {
    constexpr std::size_t most = 64;
    if (self->current_message_id().is_request() && self->state.size() < most)
      self->state.push_back(self->make_response_promise());
    return caf::message{};
  });
  return {[self](forget_all) {
    for (std::size_t i = 0; i < self->state.size(); i += 2)
      self->state[i].deliver(static_cast<int>(i));
    self->state.clear();
  }};
}

caf::behavior source(caf::event_based_actor* self) {
  self->set_default_handler(caf::drop);
  return {[self](int count) {
    const auto to = caf::actor_cast<caf::actor>(self->current_sender());
    for (int i = 0; to && i < count && i < 12; ++i)
      self->send(to, i % 4 == 3 ? caf::make_message(std::string(900, 's')) : caf::make_message(i));
  }};
}

caf::behavior mortal(caf::event_based_actor* self) {
  self->set_default_handler(caf::drop);
  return {[self](int reason) {
    self->quit(caf::error{static_cast<std::uint8_t>(reason), caf::atom("exit"), caf::make_message("so\nit\x1b ends")});
  }};
}

/// Takes the spans of traces that the peer has begun.
class no_spans final : public troupe::span_sink {
  bool take(troupe::span what) noexcept override {
    expect(what.types.size() <= 128 && what.tracestate.size() <= troupe::tracestate_bytes_max, "a span is too large");
    return true;
  }
};

caf::behavior driver(caf::event_based_actor* self) {
  self->set_default_handler(caf::drop);
  self->set_exit_handler([](caf::exit_msg&) {});
  self->set_down_handler([](caf::down_msg&) {});
  self->set_error_handler([](caf::error&) {});
  return {[self](command& what) { (*what.run)(self); }};
}

} // namespace

void expect_soon(const std::function<bool()>& condition, std::string_view what,
                 const std::function<std::string()>& details) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  for (int tries = 0; !condition(); ++tries) {
    if (std::chrono::steady_clock::now() > deadline)
      expect(false, what, details ? details() : std::string{});
    if (tries < 50)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(50us);
  }
}

link_options home::link_options() {
  troupe::link_options options;
  options.serializers = {"typed", "msgpack", "json"};
  options.allow_spawn = options.allow_tasks = options.allow_exit = true;
  options.message_bytes = 256_KiB;
  options.window_bytes = 48_KiB;
  options.actor_window_bytes = 12_KiB;
  options.queue_bytes = 24_KiB;
  options.actor_queue_bytes = 6_KiB;
  options.unread_answer_bytes = 64_KiB;
  options.offload_bytes = 8_KiB;
  options.block_timeout = 0ms;
  options.connect_timeout = 60s;
  options.heartbeat_interval = 60s;
  options.heartbeat_timeout = 120s;
  options.receive_limits = bounds();
  return options;
}

home::home(std::vector<std::string> listen) : config_(std::make_unique<system_config>()) {
  set_log_threshold(log_level::debug);
  set_log_sink(expect_harmless);
  config_->set("scheduler.max-threads", 1);
  config_->add_actor_type("counter", counter);
  system_ = std::make_unique<caf::actor_system>(*config_);
  types_.add<reading>("reading").add<guest_list>("guests");
  types_.add<object_ref<array<double>>>("ref_array").add<object_ref<reading>>("ref_reading");
  types_.add_function<&add>("add").add_function<&fail>("fail");
  node_options options{.name = "home", .listen = std::move(listen), .accepted_links = link_options()};
  options.store = std::nullopt;
  options.unproven_peers_max = 16u;
  node_ = std::make_shared<node_core>(*system_, types_, families_, std::move(options));
  node_->spans()->record_to(std::make_shared<no_spans>(), 0); // For traces that the peer begins.
  const auto started = node_->start();
  expect(started.has_value(), "no node", started ? "" : started.error().message());
  warm_up();
}

caf::actor home::spawn(std::size_t place) {
  switch (place) {
  case 0:
    return system_->spawn(echo);
  case 1:
    return system_->spawn([this](caf::event_based_actor* self) -> caf::behavior {
      self->set_default_handler([this](caf::scheduled_actor* me, caf::message_view&) -> caf::result<caf::message> {
        keep(me->current_sender());
        return caf::message{};
      });
      return {[this](const caf::actor& one) { keep(caf::actor_cast<caf::strong_actor_ptr>(one)); },
              [this](const caf::strong_actor_ptr& one) { keep(one); },
              [this](const std::vector<caf::actor>& some) {
                for (const auto& one : some)
                  keep(caf::actor_cast<caf::strong_actor_ptr>(one));
              },
              [this](const guest_list& some) {
                for (const auto& one : some.guests)
                  keep(caf::actor_cast<caf::strong_actor_ptr>(one));
              }};
    });
  case 2:
    return system_->spawn(quiet);
  case 3:
    return system_->spawn(source);
  default:
    return system_->spawn(mortal);
  }
}

/// Replaces the actor in this place if it has ended.
void home::revive(std::size_t place) {
  auto& each = actors_[place];
  if (each.handle && !each.has_ended->load())
    return;
  node_->names().unpublish(names[place]);
  each = {spawn(place), std::make_shared<std::atomic<bool>>(false)};
  each.handle->attach_functor([ended = each.has_ended] { ended->store(true); });
  const auto done = node_->names().publish(names[place], caf::actor_cast<caf::strong_actor_ptr>(each.handle));
  expect(done.has_value(), "cannot publish");
}

/// Creates in advance the actors that the node creates at first use, and counts the running ones.
void home::warm_up() {
  static_cast<void>(node_->helpers().task_runner());
  static_cast<void>(node_->helpers().spawner());
  for (std::size_t place = 0; place < names.size(); ++place)
    revive(place);
  driver_ = system_->spawn(driver);
  act([](auto*) {});
  running_ = system_->registry().running();
}

std::shared_ptr<link_core> home::start(const troupe::link_options& options, link_side side, const std::string& secret,
                                       const std::shared_ptr<pipe>& bytes) {
  auto security = std::make_shared<const link_security>(
      link_security{.kind = secret.empty() ? transport_kind::unix_socket : transport_kind::tcp,
                    .secrets = secret.empty() ? nullptr : secret_book::of(secret),
                    .tls = {},
                    .tls_server = {}});
  auto made = link_core::make(node_, options, side, security, node_->seat_for_link());
  expect(made && node_->links().add(*made), "no link", made ? "" : made.error().message());
  asio::post(node_->io(), [link = *made, bytes, time = options.connect_timeout] { link->start(bytes, time, nullptr); });
  return *std::move(made);
}

std::vector<caf::strong_actor_ptr> home::kept() {
  std::lock_guard guard{mutex_};
  return kept_;
}

void home::keep(caf::strong_actor_ptr actor) {
  constexpr std::size_t most = 12;
  std::lock_guard guard{mutex_};
  if (actor && kept_.size() < most)
    kept_.push_back(std::move(actor));
}

void home::drop_kept(std::size_t place) {
  caf::strong_actor_ptr dropped; // Destroyed after the lock is released.
  std::lock_guard guard{mutex_};
  if (kept_.empty())
    return;
  dropped = std::move(kept_[place % kept_.size()]);
  kept_.erase(kept_.begin() + static_cast<std::ptrdiff_t>(place % kept_.size()));
}

void home::drop_all_kept() {
  std::vector<caf::strong_actor_ptr> dropped; // Destroyed after the lock is released.
  std::lock_guard guard{mutex_};
  dropped.swap(kept_);
}

void home::forget() {
  caf::anon_send(actors_[2].handle, forget_all{});
}

void home::publish_kept(std::size_t place) {
  node_->names().unpublish("kept");
  const auto all = kept();
  if (!all.empty())
    static_cast<void>(node_->names().publish("kept", all[place % all.size()]));
}

void home::act(std::function<void(caf::event_based_actor*)> what) {
  auto done = std::make_shared<std::promise<void>>();
  auto is_done = done->get_future();
  auto run = std::make_shared<std::function<void(caf::event_based_actor*)>>(
      [what = std::move(what), done](caf::event_based_actor* self) {
        what(self);
        done->set_value();
      });
  driver_is_used_ = true;
  caf::anon_send(driver_, command{run});
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (is_done.wait_for(std::chrono::milliseconds(100)) != std::future_status::ready) {
    expect(std::chrono::steady_clock::now() < deadline, "an actor waits for the link");
    // The driver may be dead: an actor that was linked to it ended late, killed by the end of the last script's driver.
    if (caf::actor_cast<caf::abstract_actor*>(driver_)->getf(caf::abstract_actor::is_terminated_flag)) {
      driver_ = system_->spawn(driver);
      caf::anon_send(driver_, command{run});
    }
  }
}

void home::settle() {
  node_->names().unpublish("kept");
  forget();
  if (std::exchange(driver_is_used_, false)) { // Drops all that it waits for.
    caf::anon_send_exit(driver_, caf::exit_reason::kill);
    driver_ = system_->spawn(driver);
  }
  const auto is_kept_elsewhere = [](const published& each) {
    constexpr std::size_t own = 2; // In `actors_`, and as published.
    return caf::actor_cast<caf::strong_actor_ptr>(each.handle)->strong_refs > own + 1;
  };
  const auto count = [this] {
    std::string text = std::to_string(system_->registry().running()) + " of " + std::to_string(running_) + "; ";
    for (const auto& each : actors_)
      text += std::to_string(caf::actor_cast<caf::strong_actor_ptr>(each.handle)->strong_refs) + " ";
    return text;
  };
  expect_soon(
      [&, tries = 0]() mutable {
        // Messages that came late may still be in a mailbox.
        for (std::size_t place = 0; place < names.size(); ++place)
          revive(place);
        if (++tries % 64 == 0)
          forget();
        drop_all_kept();
        return system_->registry().running() == running_ && std::ranges::none_of(actors_, is_kept_elsewhere);
      },
      "actors, or handles of them, are left", count);
}

} // namespace fuzz
