#include <troupe/framework/internal/node/connecting.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <troupe/framework/internal/link/node_link.hpp>
#include <troupe/framework/internal/net/inproc.hpp>
#include <troupe/framework/internal/node/node_core.hpp>
#include <troupe/framework/internal/threads/io_timer.hpp>
#include <troupe/framework/internal/trust/secret_file.hpp>
#include <troupe/framework/internal/words/failing.hpp>

namespace troupe::internal {

std::expected<destination, node_error> destination::make(std::string_view address, const link_options& options,
                                                         const family_set& known) {
  auto at = parse_address(address);
  if (!at)
    return std::unexpected{std::move(at).error()};
  if (auto good = node_link::check(options, known); !good)
    return std::unexpected{std::move(good).error()};
  if (!options.roles.empty())
    return bad_option("roles are for the peers that dial this node: set them in accepted_links");
  destination made{*std::move(at), options};
  auto secrets = secret_book::open(options.credentials);
  if (!secrets)
    return std::unexpected{std::move(secrets).error()};
  made.secrets_ = *std::move(secrets);
  if (made.at_.kind == transport_kind::tcp)
    return made;
  auto security = security_for_dialing(made.at_, {}, options.credentials, made.secrets_);
  if (!security)
    return std::unexpected{std::move(security).error()};
  made.security_ = std::make_shared<const link_security>(*std::move(security));
  return made;
}

std::expected<destination, node_error> destination::connected(std::string peer, const link_options& options,
                                                              const family_set& known) {
  if (auto good = node_link::check(options, known); !good)
    return std::unexpected{std::move(good).error()};
  if (!options.roles.empty())
    return bad_option("roles are for the peers that dial this node: set them in accepted_links");
  destination made{{.text = std::move(peer), .kind = transport_kind::unix_socket}, options};
  made.security_ = std::make_shared<const link_security>(
      link_security{.kind = transport_kind::unix_socket, .tls = {}, .tls_server = {}});
  return made;
}

std::expected<std::shared_ptr<const link_security>, node_error>
destination::security_at(std::span<const stream_endpoint> endpoints, limited_log& lines) {
  if (security_)
    return security_;
  auto security = security_for_dialing(at_, endpoints, options_.credentials, secrets_);
  if (!security)
    return std::unexpected{std::move(security).error()};
  if (!security->caution.empty() && !std::exchange(has_cautioned_, true))
    lines.warn(security->caution);
  return std::make_shared<const link_security>(*std::move(security));
}

connecting::connecting(std::shared_ptr<node_core> node, std::shared_ptr<destination> to, dial_deadline until,
                       events whom)
    : node_(std::move(node)), to_(std::move(to)), until_(until), whom_(std::move(whom)), limit_(node_->io(), until) {}

std::shared_ptr<connecting> connecting::start(std::shared_ptr<node_core> node, std::shared_ptr<destination> to,
                                              dial_deadline until, events whom) {
  std::shared_ptr<connecting> made{new connecting{std::move(node), std::move(to), until, std::move(whom)}};
  post_to(made->node_->io(), [weak = made->weak_from_this()] {
    if (auto self = weak.lock(); self && self->whom_.done)
      self->begin();
  });
  return made;
}

std::shared_ptr<connecting> connecting::start_over(stream_socket socket, link_side side,
                                                   std::shared_ptr<node_core> node, std::shared_ptr<destination> to,
                                                   dial_deadline until, events whom) {
  std::shared_ptr<connecting> made{new connecting{std::move(node), std::move(to), until, std::move(whom)}};
  made->side_ = side;
  post_to(made->node_->io(), [weak = made->weak_from_this(), socket = std::move(socket)]() mutable {
    auto self = weak.lock();
    if (!self || !self->whom_.done)
      return;
    self->security_ = *self->to_->security_at({}, self->node_->lines()); // destination::connected() has set it.
    self->greet_over(std::move(socket));
  });
  return made;
}

std::shared_ptr<node_link> connecting::cancel() {
  whom_ = {};
  limit_.cancel();
  lookup_.reset();
  if (auto unfinished = std::exchange(dialing_, nullptr))
    unfinished->cancel();
  auto link = std::exchange(link_, nullptr);
  if (!link || link->is_open())
    return link;
  link->close("the connect was abandoned", std::chrono::milliseconds{0});
  return nullptr;
}

void connecting::begin() {
  if (to_->at().kind == transport_kind::inproc)
    return dial_to({});
  limit_.async_wait([weak = weak_from_this()](std::error_code cancelled) {
    auto self = weak.lock();
    if (!self || cancelled || !self->lookup_)
      return;
    self->lookup_.reset();
    self->finish(fail(node_errc::timed_out, "the host of " + self->to_->at().text + " was not found within "
                                                + std::to_string(self->to_->options().connect_timeout->count())
                                                + " ms"));
  });
  lookup_.emplace(node_->io(), to_->at(), [weak = weak_from_this()](found_endpoints found) {
    auto self = weak.lock();
    if (!self)
      return;
    self->lookup_.reset();
    if (found)
      self->dial_to(*std::move(found));
    else
      self->finish(std::unexpected{std::move(found).error()});
  });
}

void connecting::dial_to(std::vector<stream_endpoint> endpoints) {
  auto security = to_->security_at(endpoints, node_->lines());
  if (!security)
    return finish(std::unexpected{std::move(security).error()});
  security_ = *std::move(security);
  static_cast<void>(choose_secret());
  if (to_->at().kind == transport_kind::inproc) {
    auto seat = node_->seat_for_link();
    auto& io = seat.io();
    return greet(dial_inproc(io, to_->at().path), std::move(seat));
  }
  endpoints_ = std::move(endpoints);
  dial();
}

/// Chooses the first secret that was not tried yet. The files may have changed since the last try. Returns false if
/// there is none, or if a peer was asked often enough.
bool connecting::choose_secret() {
  if (!security_->secrets || security_->secrets->is_empty() || tried_.size() >= secrets_per_file_max)
    return false;
  for (auto& each : security_->secrets->now()) {
    if (std::ranges::find(tried_, each.secret) != tried_.end())
      continue;
    auto with_choice = *security_;
    with_choice.chosen = each.secret;
    security_ = std::make_shared<const link_security>(std::move(with_choice));
    tried_.push_back(std::move(each.secret));
    return true;
  }
  return false;
}

void connecting::dial() {
  dialing_ = dialing::start(node_->io(), to_->at().text, endpoints_, until_,
                            [weak = weak_from_this()](dialing::result connected) {
                              auto self = weak.lock();
                              if (!self)
                                return;
                              self->dialing_ = nullptr;
                              if (!connected)
                                return self->finish(std::unexpected{std::move(connected).error()});
                              self->greet_over(*std::move(connected));
                            });
}

void connecting::greet_over(stream_socket socket) {
  auto seat = node_->seat_for_link();
  auto moved = moved_to(seat.io(), std::move(socket));
  if (!moved)
    return finish(std::unexpected{std::move(moved).error()});
  greet(make_transport(*std::move(moved), *security_), std::move(seat));
}

void connecting::greet(std::expected<std::shared_ptr<transport>, node_error> bytes, loop_seat seat) {
  if (!bytes)
    return finish(std::unexpected{std::move(bytes).error()});
  auto made = node_link::make(node_, to_->options(), side_, security_, std::move(seat));
  if (!made)
    return finish(std::unexpected{std::move(made).error()});
  link_ = *std::move(made);
  if (!node_->links().add(link_)) {
    link_ = nullptr;
    return finish(fail(node_errc::link_down, "the node is closing"));
  }
  // Posted: the link is in the middle of its work when it tells.
  link_->tell({.opened =
                   [self = shared_from_this()](const std::expected<void, node_error>& opened) {
                     post_to(self->node_->io(), [self, opened] { self->on_opened(opened); });
                   },
               .ended =
                   [self = shared_from_this(), tries = tried_.size()](const node_error& reason) {
                     post_to(self->node_->io(), [self, reason, tries] {
                       if (tries != self->tried_.size())
                         return; // It was dialed again.
                       if (auto ended = std::exchange(self->whom_.ended, nullptr))
                         ended(reason);
                     });
                   }});
  link_->start(*std::move(bytes), time_until(until_), nullptr);
}

void connecting::on_opened(const std::expected<void, node_error>& opened) {
  auto link = std::exchange(link_, nullptr);
  if (opened)
    finish(std::move(link));
  else if (whom_.done && link && link->secret_is_refused() && choose_secret())
    dial();
  else
    finish(fail(opened.error().code(), "connecting to " + to_->at().text + ": " + opened.error().message()));
}

void connecting::finish(result what) {
  auto self = shared_from_this(); // `done` may drop the last reference.
  limit_.cancel();
  if (!what)
    whom_.ended = nullptr;
  if (auto done = std::exchange(whom_.done, nullptr))
    done(std::move(what));
}

awaited_link::awaited_link(std::shared_ptr<node_core> node, destination to)
    : node_(std::move(node)),
      to_(std::make_shared<destination>(std::move(to))),
      until_(std::chrono::steady_clock::now() + *to_->options().connect_timeout) {}

void awaited_link::begin() {
  post_to(node_->io(), [self = shared_from_this()] {
    self->attempt_ =
        connecting::start(self->node_, self->to_, self->until_,
                          {.done = [self](connecting::result what) { self->settle(std::move(what)); }, .ended = {}});
  });
}

void awaited_link::clean_up() {
  if (const auto unfinished = std::exchange(attempt_, nullptr)) {
    if (const auto link = unfinished->cancel())
      link->close("the connect was abandoned", std::chrono::milliseconds{0});
    settle(fail(node_errc::link_down, "the node is closing"));
  }
}

void awaited_link::settle(connecting::result what) {
  attempt_ = nullptr;
  settled_.set_value(std::move(what));
}

} // namespace troupe::internal
