#include <troupe/framework/internal/objects/object_exchange.hpp>

#include <utility>

#include <troupe/framework/internal/objects/exchanged_object.hpp>
#include <troupe/framework/internal/objects/stored_object.hpp>
#include <troupe/framework/internal/objects/unfinished_object.hpp>
#include <troupe/framework/internal/threads/io_timer.hpp>
#include <troupe/framework/internal/trust/authentication.hpp>

namespace troupe::internal {

namespace {

using clock = std::chrono::steady_clock;

handles::time_point time_of(clock::time_point at) {
  return at == clock::time_point::max() ? handles::never : at.time_since_epoch();
}

exchange_core::options core_options_of(const object_exchange::options& with, std::uint64_t store_number) {
  exchange_core::options result;
  result.capacity_bytes = with.capacity_bytes;
  auto& ledger = result.ledger;
  ledger.self = with.self;
  do
    ledger.proxy_number = random_number();
  while (ledger.proxy_number == store_number);
  ledger.fresh_token = random_number;
  ledger.clock = [] { return handles::time_point{clock::now().time_since_epoch()}; };
  ledger.grace = with.grace;
  ledger.chunk_bytes_max = chunk_bytes_max;
  return result;
}

} // namespace

object_exchange::object_exchange(asio::io_context& io, const store::object_store& store, const options& with)
    : io_(io),
      store_(store),
      self_(with.self),
      dial_(with.dial),
      timer_(std::make_unique<io_timer>(io)),
      serving_(core_, *this, worker_),
      callers_(core_, worker_),
      unfinished_(core_, store, maker_, worker_),
      rooms_(core_, store, with.capacity_bytes, with.others, maker_, worker_),
      core_(store, core_options_of(with, store.number()), {*this, rooms_, unfinished_, callers_}) {}

object_exchange::~object_exchange() = default;

std::expected<void, node_error> object_exchange::start(const std::string& node) {
  const auto whose = "node " + node + " needs three threads for its store";
  for (auto* const queue : {&worker_, &maker_})
    if (auto started = queue->start(whose); !started)
      return started;
  return rooms_.start(whose);
}

void object_exchange::end() {
  auto held = core_.lock();
  if (held->is_ended())
    return;
  held->end();
  for (const auto& [link, each] : writers_)
    held.holds().close(link);
  const auto writers = std::exchange(writers_, {});
  rooms_.room_is_left(held->turn()); // Ends all waits for room.
  // On the timer's thread, while that thread still runs: handles outlive both.
  post_to(io_, [self = shared_from_this()] { self->timer_.reset(); });
  held.guard().unlock();
  maker_.end();
  rooms_.end();
  worker_.end();
  serving_.end();
  unfinished_.end();
  callers_.end();
}

// -- objects

std::shared_ptr<exchanged_object> object_exchange::object_of(const object_source_ptr& source) {
  if (auto counted = counted_object_of(source); counted && counted->is_of(*this))
    return counted;
  const auto object = source->stored();
  if (object.empty() || object.id().store != store_.number())
    return nullptr;
  auto held = core_.lock();
  held.holds().keep(object); // Until the core has its own hold.
  const auto what = held->add(object.id());
  held.holds().drop(object.id());
  held.guard().unlock();
  return std::make_shared<exchanged_object>(shared_from_this(), what, object.size_bytes());
}

std::expected<object_source_ptr, node_error>
object_exchange::put_unfinished(frame bytes, std::vector<std::byte> metadata,
                                std::span<const std::shared_ptr<exchanged_object>> captured) {
  const auto size_bytes = bytes.size_bytes();
  std::vector<handles::reference> parts;
  parts.reserve(captured.size());
  for (const auto& each : captured)
    parts.push_back(each->what());
  auto held = core_.lock();
  const auto what = held->add_unfinished(size_bytes, parts);
  if (!what)
    return std::unexpected{what.error()};
  if (held->is_unfinished(*what)) // Otherwise an object that it captures is already lost.
    unfinished_.keep(held->turn(), *what, bytes, std::move(metadata));
  held.guard().unlock();
  auto made = std::make_shared<unfinished_object>(
      std::make_shared<exchanged_object>(shared_from_this(), *what, size_bytes), std::move(bytes));
  made->finish();
  return made;
}

void object_exchange::drop(handles::reference what) {
  core_.lock()->drop(what);
}

store::handle object_exchange::stored(handles::reference what) const {
  return ::getpid() == pid_ ? core_.stored(what) : store::handle{};
}

/// In a process forked from the node's, none of the node's threads run, and mutexes that they held stay locked.
std::optional<node_error> object_exchange::why_forked() const {
  if (::getpid() == pid_)
    return std::nullopt;
  const auto found = store::object_store{store_}.find(store::object_id{});
  return found ? std::nullopt : std::optional{from_store(found.error())};
}

std::optional<node_error> object_exchange::why_lost(handles::reference what, std::uint64_t size_bytes) const {
  if (auto forked = why_forked())
    return forked;
  return core_.lock()->why_lost(what, size_bytes);
}

object_source::fetch_id object_exchange::fetch(handles::reference what, std::uint64_t size_bytes,
                                               clock::time_point until, object_source::answer then) {
  if (auto forked = why_forked()) {
    then(std::unexpected{*std::move(forked)});
    return 0;
  }
  auto held = core_.lock();
  if (held->is_ended()) {
    held.guard().unlock();
    then(std::unexpected{words_of_end(size_bytes)});
    return 0;
  }
  const auto who = callers_.add(held->turn(), std::move(then), until);
  held->fetch(what, who, time_of(until));
  return who;
}

void object_exchange::cancel(object_source::fetch_id which) {
  const auto held = core_.lock();
  callers_.hurry(held->turn(), which);
  held->cancel(which);
}

std::string object_exchange::why_ended(handles::link_number link) const {
  const auto held = core_.lock();
  const auto* const found = held->why_ended(link);
  return found != nullptr ? *found : std::string{};
}

// -- links

bool object_exchange::link_up(const std::shared_ptr<counted_link>& link, handles::link_number number,
                              handles::node_name peer, bytes_view token,
                              const std::optional<exchange_channel>& shared) {
  const auto held = core_.lock();
  auto* const own = link->io();
  const auto is_new = // Registered first: the core may write at once.
      writers_.try_emplace(number, writer{.link = link, .io = own != nullptr ? own : &io_}).second;
  const auto is_up = is_new
                     && held->link_up(number, {.peer = peer,
                                               .token = token,
                                               .shares_store = shared.has_value(),
                                               .peer_name = link->peer_name(),
                                               .object_bytes_max = link->object_bytes_max()});
  if (is_new && !is_up)
    writers_.erase(number);
  if (is_up && shared)
    held.holds().open(number, *shared);
  return is_up;
}

void object_exchange::link_down(handles::link_number number, std::string why) {
  auto held = core_.lock();
  if (!held->link_down(number, std::move(why)))
    return;
  held.holds().close(number);
  const auto ended = writers_.extract(number);
  held.guard().unlock(); // The rest of the entry is destroyed outside the lock.
  serving_.forget(number);
}

std::expected<void, node_error> object_exchange::on_message(handles::link_number from, const handles::message& what) {
  return core_.lock()->on_message(from, what);
}

std::expected<void, node_error> object_exchange::on_chunk(handles::link_number from, const object_chunk_head& head,
                                                          bytes_view bytes) {
  return rooms_.write(from, head, bytes);
}

std::expected<std::vector<object_source_ptr>, node_error>
object_exchange::receive(handles::link_number from, std::span<const object_mention> mentions) {
  std::vector<handles::handle_descriptor> counted;
  for (const auto& each : mentions)
    if (each.what == object_mention::kind::counted)
      counted.push_back(each.handle);
  std::vector<object_source_ptr> result(mentions.size());
  if (counted.empty())
    return result;
  const auto received = core_.lock()->receive(from, counted);
  if (!received)
    return std::unexpected{received.error()};
  auto next = received->begin();
  for (std::size_t i = 0; i < mentions.size(); ++i)
    if (mentions[i].what == object_mention::kind::counted)
      result[i] = std::make_shared<exchanged_object>(shared_from_this(), *next++, mentions[i].handle.size_bytes);
  return result;
}

std::vector<object_mention> object_exchange::count_out(handles::link_number to,
                                                       std::span<const std::shared_ptr<exchanged_object>> objects) {
  std::vector<handles::reference> what;
  what.reserve(objects.size());
  for (const auto& each : objects)
    what.push_back(each->what());
  auto described = core_.lock()->count_out(to, what);
  std::vector<object_mention> result(objects.size());
  for (std::size_t i = 0; i < objects.size(); ++i) {
    result[i].handle.size_bytes = objects[i]->size_bytes();
    if (!described[i])
      continue; // Lost: readers get that error.
    result[i].what = object_mention::kind::counted;
    result[i].handle = *std::move(described[i]);
  }
  return result;
}

std::vector<handles::message> object_exchange::take_messages(handles::link_number to) {
  return core_.lock()->take_messages(to);
}

// -- errands of the core

void object_exchange::write_soon(core_turn, handles::link_number link) {
  const auto to = writers_.find(link);
  if (to == writers_.end() || std::exchange(to->second.is_called, true))
    return;
  post_to(*to->second.io, [weak = weak_from_this(), link] {
    if (auto self = weak.lock())
      self->write(link);
  });
}

/// On the link's I/O thread.
void object_exchange::write(handles::link_number link) {
  auto held = core_.lock();
  const auto found = writers_.find(link);
  if (found == writers_.end())
    return;
  found->second.is_called = false;
  const auto ending = held->ending(link);
  const auto to = found->second.link.lock();
  held.guard().unlock();
  if (!to)
    return;
  if (ending)
    return to->end_for_handles(*ending);
  serving_.prepare(link);
  to->write_handles();
}

void object_exchange::dial(core_turn, const handles::node_name& who) {
  if (dial_)
    post_to(io_, [dial = dial_, who] { dial(who); });
}

void object_exchange::wake_at(core_turn, handles::time_point when) {
  wakes_at_ = when;
  post_to(io_, [weak = weak_from_this()] {
    if (auto self = weak.lock())
      self->set_timer();
  });
}

/// On the thread of `io`.
void object_exchange::set_timer() {
  auto held = core_.lock();
  if (held->is_ended() || wakes_at_ == handles::never)
    return;
  timer_->expires_at(clock::time_point{std::chrono::duration_cast<clock::duration>(wakes_at_)});
  held.guard().unlock();
  timer_->async_wait([weak = weak_from_this()](std::error_code cancelled) {
    if (auto alive = weak.lock(); alive && !cancelled)
      alive->tick();
  });
}

void object_exchange::tick() {
  const auto held = core_.lock();
  wakes_at_ = handles::never;
  held->tick();
}

} // namespace troupe::internal
