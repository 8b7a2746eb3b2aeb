#include <troupe/framework/worker_process.hpp>

#include <utility>

#include <troupe/framework/internal/caf_port/system_module.hpp>
#include <troupe/framework/internal/link/node_link.hpp>
#include <troupe/framework/internal/net/io_loop.hpp>
#include <troupe/framework/internal/node/node_core.hpp>
#include <troupe/framework/internal/words/failing.hpp>
#include <troupe/framework/internal/workers/worker_core.hpp>
#include <troupe/framework/node.hpp>
#include <troupe/framework/system_config.hpp>

namespace troupe {

std::expected<worker_process, node_error> worker_process::start(node& with, worker_options options) {
  if (!internal::io_loop::may_wait() || internal::worker_loop::is_this_thread())
    return internal::fail(node_errc::unsupported, "worker_process::start would block a node's I/O thread or the thread "
                                                  "that watches workers: call it on another thread, or use launch");
  auto launched = launch(with, std::move(options), {});
  if (!launched)
    return launched;
  if (auto started = launched->core_->wait_for_start(); !started)
    return std::unexpected{std::move(started).error()};
  return launched;
}

std::expected<worker_process, node_error> worker_process::launch(node& with, worker_options options,
                                                                 std::function<void(const worker_event&)> on_event,
                                                                 const caf::actor& listener) {
  const auto& core = with.core();
  if (listener && listener.node() != core->system().node())
    return internal::bad_option("the listener of a worker_process must be an actor of this process");
  if (const auto* config = internal::config_of(core->system()); config != nullptr) {
    auto complete = config->link_options_for(options.name, core->families(), options.link);
    if (!complete)
      return std::unexpected{std::move(complete).error()};
    options.link = *std::move(complete);
  }
  auto made = internal::worker_core::launch(core, std::move(options), std::move(on_event),
                                            caf::actor_cast<caf::strong_actor_ptr>(listener));
  if (!made)
    return std::unexpected{std::move(made).error()};
  return worker_process{*std::move(made)};
}

worker_process::worker_process(std::shared_ptr<internal::worker_core> core) : core_(std::move(core)) {}

worker_process::worker_process(worker_process&&) noexcept = default;

worker_process& worker_process::operator=(worker_process&& other) noexcept {
  if (this != &other) {
    if (core_)
      core_->abandon();
    core_ = std::move(other.core_);
  }
  return *this;
}

worker_process::~worker_process() {
  if (core_)
    core_->abandon();
}

const std::string& worker_process::name() const noexcept {
  return core_->name();
}

std::optional<link> worker_process::link() const {
  auto open = core_->link();
  return open ? std::optional<class link>{std::move(open)} : std::nullopt;
}

pid_t worker_process::pid() const {
  return core_->number();
}

std::optional<worker_ending> worker_process::ending() const {
  return core_->ending();
}

std::optional<worker_ending> worker_process::wait(std::chrono::milliseconds timeout) const {
  return core_->wait(timeout);
}

void worker_process::stop() {
  core_->stop();
}

void worker_process::kill() {
  core_->kill();
}

} // namespace troupe
