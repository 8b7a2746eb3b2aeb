// What the exchange does when, apart from rooms (exchange_rooms.cpp) and serving (exchange_serving.cpp).
#include <troupe/framework/internal/objects/object_exchange.hpp>

#include <algorithm>
#include <cassert>
#include <string_view>
#include <utility>
#include <variant>

#include <asio/post.hpp>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/objects/exchange_room.hpp>
#include <troupe/framework/internal/objects/object_proof.hpp>
#include <troupe/framework/internal/objects/stored_object.hpp>
#include <troupe/framework/internal/objects/unfinished_object.hpp>
#include <troupe/framework/internal/trust/authentication.hpp>

namespace troupe::internal {

namespace {

constexpr std::string_view proof_of_home = "troupe home";

using clock = std::chrono::steady_clock;

handles::time_point time_of(clock::time_point at) {
  return at == clock::time_point::max() ? handles::never : at.time_since_epoch();
}

handles::ledger_options ledger_options_of(const object_exchange::options& with, std::uint64_t store_number) {
  handles::ledger_options result;
  result.self = with.self;
  do
    result.proxy_number = random_number();
  while (result.proxy_number == store_number);
  result.fresh_token = random_number;
  result.clock = [] { return handles::time_point{clock::now().time_since_epoch()}; };
  result.grace = with.grace;
  result.chunk_bytes_max = chunk_bytes_max;
  return result;
}

node_error ended_error(std::uint64_t size_bytes) {
  return {node_errc::link_down,
          "the node has ended, and the object's " + grouped(size_bytes) + " bytes were not fetched before"};
}

} // namespace

object_exchange::object_exchange(asio::io_context& io, store::object_store store, const options& with)
    : io_(io),
      store_(std::move(store)),
      self_(with.self),
      capacity_bytes_(with.capacity_bytes),
      others_patience_(with.others_patience),
      others_stall_(with.others_stall),
      dial_(with.dial),
      ledger_(ledger_options_of(with, store_.number()), *this),
      timer_(std::make_unique<asio::steady_timer>(io)) {}

object_exchange::~object_exchange() = default;

std::expected<void, node_error> object_exchange::start(const std::string& node) {
  for (auto* const queue : {&worker_, &room_maker_, &writer_watch_})
    if (auto started = queue->start("node " + node + " needs three threads for its store"); !started)
      return started;
  return {};
}

void object_exchange::end() {
  std::unique_lock guard{mutex_};
  if (std::exchange(is_ended_, true))
    return;
  for (const auto& [number, each] : lanes_)
    ledger_.link_down(number);
  ledger_.end_graces();
  const auto lanes = std::exchange(lanes_, {});
  static_cast<void>(ledger_.take_actions());
  auto waiters = std::exchange(waiters_, {});
  auto rooms = std::exchange(rooms_, {});
  auto waiting = std::exchange(waiting_rooms_, {}); // What these kept ends outside of the lock.
  auto unfinished_now = std::exchange(unfinished_, {});
  reserve_changed_.notify_all();
  // On its thread, and while there is one: handles outlive both.
  asio::post(io_, [self = shared_from_this()] { self->timer_.reset(); });
  guard.unlock();
  room_maker_.end();
  writer_watch_.end();
  worker_.end();
  for (auto& [number, who] : waiters)
    who.then(std::unexpected{node_error{node_errc::link_down, "the node has ended"}});
}

// -- objects

std::shared_ptr<exchanged_object> object_exchange::object_of(const object_source_ptr& source) {
  if (auto counted = std::dynamic_pointer_cast<exchanged_object>(source); counted && counted->is_of(*this))
    return counted;
  if (const auto own = std::dynamic_pointer_cast<unfinished_object>(source); own && own->counted()->is_of(*this))
    return own->counted();
  const auto object = source->stored();
  if (object.empty() || object.id().store != store_.number())
    return nullptr;
  std::unique_lock guard{mutex_};
  adding_ = &object;
  const auto what = ledger_.add(object.id());
  adding_ = nullptr;
  guard.unlock();
  return std::make_shared<exchanged_object>(shared_from_this(), what, object.size_bytes());
}

void object_exchange::drop(handles::reference what) {
  std::lock_guard guard{mutex_};
  ledger_.drop(what);
  settle();
}

store::handle object_exchange::stored(handles::reference what) const {
  if (::getpid() != pid_)
    return {};
  std::lock_guard guard{mutex_};
  const auto place = ledger_.place_of(what);
  return place ? holds_.at(*place).object : store::handle{};
}

/// In a process that was forked from the node's there are none of its threads, and what they had locked stays so.
std::optional<node_error> object_exchange::why_forked() const {
  if (::getpid() == pid_)
    return std::nullopt;
  const auto found = store::object_store{store_}.find(store::object_id{});
  return found ? std::nullopt : std::optional{from_store(found.error())};
}

std::optional<node_error> object_exchange::why_lost(handles::reference what, std::uint64_t size_bytes) const {
  if (auto forked = why_forked())
    return forked;
  std::lock_guard guard{mutex_};
  if (is_ended_)
    return ledger_.place_of(what) ? std::nullopt : std::optional{ended_error(size_bytes)};
  const auto loss = ledger_.loss_of(what);
  return loss ? std::optional{loss_error(size_bytes, *loss)} : std::nullopt;
}

object_source::fetch_id object_exchange::fetch(handles::reference what, std::uint64_t size_bytes,
                                               clock::time_point until, object_source::answer then) {
  if (auto forked = why_forked()) {
    then(std::unexpected{*std::move(forked)});
    return 0;
  }
  std::unique_lock guard{mutex_};
  if (is_ended_) {
    guard.unlock();
    then(std::unexpected{ended_error(size_bytes)});
    return 0;
  }
  const auto who = ++last_waiter_;
  waiters_.emplace(who, waiter{std::move(then), size_bytes, clock::now(), until, {}});
  ledger_.fetch(what, who, time_of(until));
  settle();
  return who;
}

void object_exchange::cancel(object_source::fetch_id which) {
  std::lock_guard guard{mutex_};
  if (is_ended_)
    return;
  if (const auto who = waiters_.find(which); who != waiters_.end())
    who->second.until = clock::now(); // It may wait for room already, of which the ledger knows nothing.
  ledger_.cancel_fetch(which);
  settle();
}

std::optional<frame> exchanged_object::mapped(const std::optional<std::chrono::milliseconds>& within) const {
  if (auto known = view_.known())
    return known;
  auto found = view_.of(stored(), within); // Fails for what is empty.
  return found ? std::optional{*std::move(found)} : std::nullopt;
}

object_source::fetch_id exchanged_object::fetch(clock::time_point until, answer then) {
  if (auto known = view_.known()) {
    then(*std::move(known));
    return 0;
  }
  return of_->fetch(what_, size_bytes_, until, std::move(then));
}

// -- the store, as the ledger sees it

void object_exchange::hold(const store::object_id& place) {
  auto& kept = holds_[place];
  ++kept.count;
  if (!kept.object.empty())
    return;
  if (adding_ != nullptr && adding_->id() == place)
    kept.object = *adding_;
  else if (auto found = store_.find(place))
    kept.object = *std::move(found);
}

/// Holds `object` once more.
void object_exchange::keep(store::handle object) {
  auto& kept = holds_[object.id()];
  ++kept.count;
  if (kept.object.empty())
    kept.object = std::move(object);
}

void object_exchange::drop(const store::object_id& place) {
  const auto found = holds_.find(place);
  assert(found != holds_.end());
  if (--found->second.count > 0)
    return;
  holds_.erase(found);
}

std::uint64_t object_exchange::size_of(const store::object_id& place) const {
  return holds_.at(place).object.size_bytes();
}

std::vector<store::object_id> object_exchange::captured_by(const store::object_id& place) const {
  auto captured = holds_.at(place).object.captured();
  return captured ? *std::move(captured) : std::vector<store::object_id>{};
}

handles::home_name object_exchange::home_of(const store::object_id& place) {
  return {place, object_proof(place, proof_of_home, store_)};
}

bool object_exchange::hold_at_home(const handles::home_name& which, std::uint64_t size_bytes) {
  const auto& place = which.name;
  if (place.store != store_.number() || which.proof != object_proof(place, proof_of_home, store_))
    return false;
  if (const auto known = holds_.find(place); known != holds_.end()) {
    const auto is_same = known->second.object.size_bytes() == size_bytes;
    known->second.count += is_same;
    return is_same;
  }
  auto found = store_.find(place);
  if (!found || found->size_bytes() != size_bytes)
    return false;
  keep(*std::move(found));
  return true;
}

bool object_exchange::hand_over(const store::object_id& place, handles::link_number link) {
  const auto to = lanes_.find(link);
  return to != lanes_.end() && to->second.shared
         && holds_.at(place).object.hand_over(to->second.shared->peer, to->second.shared->send).has_value();
}

void object_exchange::take_back(const store::object_id& place, handles::link_number link) {
  if (const auto to = lanes_.find(link); to != lanes_.end() && to->second.shared)
    holds_.at(place).object.take_back(to->second.shared->peer, to->second.shared->send);
}

object_exchange::adoption object_exchange::adopt(const store::object_id& place, handles::link_number link) {
  const auto from = lanes_.find(link);
  if (from == lanes_.end() || !from->second.shared || place.store != store_.number())
    return adoption::absent;
  auto adopted = store_.adopt(place, from->second.shared->peer, from->second.shared->receive);
  if (!adopted)
    return adopted.error().code() == store::store_errc::not_found ? adoption::absent : adoption::busy;
  keep(*std::move(adopted));
  return adoption::done;
}

void object_exchange::abandon(handles::link_number) {
  // The link does so, for all that went over it.
}

// -- links

bool object_exchange::link_up(const std::shared_ptr<exchange_link>& link, handles::link_number number,
                              handles::node_name peer, bytes_view token,
                              const std::optional<exchange_channel>& shared) {
  std::lock_guard guard{mutex_};
  if (is_ended_)
    return false;
  // Whoever takes the name of a node whose link was lost does not get what that node had.
  const auto now = clock::now();
  constexpr std::size_t peers_max = 4096;
  if (peers_.size() >= peers_max)
    std::erase_if(peers_, [&](const auto& each) { return now - each.second.seen > std::chrono::minutes{10}; });
  auto [known, is_new] = peers_.try_emplace(peer, known_peer{{token.begin(), token.end()}, now});
  if (!is_new && !std::ranges::equal(known->second.token, token))
    peer.incarnation = random_number();
  else
    known->second.seen = now;
  if (!ledger_.link_up(number, peer, shared.has_value()))
    return false;
  auto& made = lanes_[number];
  made.link = link;
  made.shared = shared;
  settle();
  return true;
}

void object_exchange::link_down(handles::link_number number, std::string why) {
  std::unique_lock guard{mutex_};
  const auto found = lanes_.find(number);
  if (found == lanes_.end())
    return;
  constexpr std::size_t reasons_max = 256;
  if (ended_links_.emplace(number, std::move(why)).second)
    ended_order_.push_back(number);
  if (ended_order_.size() > reasons_max) {
    ended_links_.erase(ended_order_.front());
    ended_order_.pop_front();
  }
  ledger_.link_down(number);
  settle();
  const auto ended = lanes_.extract(found);
  guard.unlock(); // What it kept ends outside of the lock.
}

std::expected<void, node_error> object_exchange::on_message(handles::link_number from, const handles::message& what) {
  std::unique_lock guard{mutex_};
  ledger_.on_message(from, what);
  settle();
  const auto found = lanes_.find(from);
  auto ending = found != lanes_.end() ? found->second.ending : std::nullopt;
  guard.unlock();
  if (ending)
    return std::unexpected{*std::move(ending)};
  return {};
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
  std::unique_lock guard{mutex_};
  const auto received = ledger_.receive(from, counted);
  settle();
  guard.unlock();
  if (!received)
    return std::unexpected{node_error{
        received.error() == handles::handle_errc::violation ? node_errc::protocol_violation : node_errc::link_down,
        "the peer sent a handle that it could not send"}};
  auto next = received->begin();
  for (std::size_t i = 0; i < mentions.size(); ++i)
    if (mentions[i].what == object_mention::kind::counted)
      result[i] = std::make_shared<exchanged_object>(shared_from_this(), *next++, mentions[i].handle.size_bytes);
  return result;
}

std::vector<object_mention> object_exchange::count_out(handles::link_number to,
                                                       std::span<const std::shared_ptr<exchanged_object>> objects) {
  std::vector<handles::reference> what;
  for (const auto& each : objects)
    what.push_back(each->what());
  std::vector<object_mention> result(objects.size()); // Lost, until it is counted: whoever reads it is told so.
  std::lock_guard guard{mutex_};
  auto handles = ledger_.count_out(to, what);
  for (std::size_t i = 0; i < objects.size(); ++i) {
    if (handles[i])
      result[i] = {.what = object_mention::kind::counted, .handle = *std::move(handles[i])};
    else
      result[i].handle.size_bytes = objects[i]->size_bytes();
  }
  settle();
  return result;
}

std::vector<handles::message> object_exchange::take_messages(handles::link_number to) {
  std::lock_guard guard{mutex_};
  const auto found = lanes_.find(to);
  if (found == lanes_.end())
    return {};
  auto& messages = found->second.messages;
  std::vector<handles::message> taken{std::make_move_iterator(messages.begin()),
                                      std::make_move_iterator(messages.end())};
  messages.clear();
  return taken;
}

handles::ledger_tables object_exchange::tables() const {
  std::lock_guard guard{mutex_};
  return ledger_.tables();
}

handles::ledger_rows object_exchange::rows(std::uint32_t first, std::uint32_t count) const {
  std::lock_guard guard{mutex_};
  return ledger_.rows(first, count);
}

std::string object_exchange::why_ended(handles::link_number link) const {
  std::lock_guard guard{mutex_};
  const auto found = ended_links_.find(link);
  return found != ended_links_.end() ? found->second : std::string{};
}

// -- actions

/// Does what the ledger wants after an event.
void object_exchange::settle() {
  for (auto& each : ledger_.take_actions())
    std::visit([this](auto& what) { act(what); }, each);
  for (auto& job : std::exchange(work_, {}))
    worker_.add(std::move(job));
  for (auto& job : std::exchange(room_work_, {}))
    room_maker_.add(std::move(job));
  arm();
}

void object_exchange::act(handles::send_message& what) {
  if (const auto to = lanes_.find(what.link); to != lanes_.end()) {
    to->second.messages.push_back(std::move(what.what));
    flush_soon(what.link);
  }
}

void object_exchange::act(const handles::bytes_wanted& what) {
  flush_soon(what.link);
}

void object_exchange::act(const handles::close_link& what) {
  if (const auto to = lanes_.find(what.link); to != lanes_.end()) {
    const auto code =
        what.why == handles::handle_errc::violation ? node_errc::protocol_violation : node_errc::link_down;
    to->second.ending = node_error{code, "the peer " + std::string{what.text}};
    flush_soon(what.link);
  }
}

void object_exchange::act(const handles::connect_to& what) {
  if (!is_ended_ && dial_)
    asio::post(io_, [dial = dial_, who = what.node] { dial(who); });
}

void object_exchange::flush_soon(handles::link_number link) {
  const auto to = lanes_.find(link);
  if (is_ended_ || to == lanes_.end() || std::exchange(to->second.is_flushing, true))
    return;
  asio::post(io_, [weak = weak_from_this(), link] {
    if (auto self = weak.lock())
      self->flush(link);
  });
}

void object_exchange::flush(handles::link_number link) {
  std::unique_lock guard{mutex_};
  const auto found = lanes_.find(link);
  if (found == lanes_.end())
    return;
  found->second.is_flushing = false;
  const auto ending = found->second.ending;
  const auto to = found->second.link.lock();
  guard.unlock();
  if (!to)
    return;
  if (ending)
    return to->end_for_handles(*ending);
  prepare(link);
  to->write_handles();
}

/// Sees to it that tick() is called when something is due.
void object_exchange::arm() {
  const auto due = ledger_.next_deadline();
  if (!due || *due >= armed_ || is_ended_)
    return;
  armed_ = *due;
  asio::post(io_, [weak = weak_from_this()] {
    if (auto self = weak.lock()) {
      std::unique_lock guard{self->mutex_};
      if (self->is_ended_ || self->armed_ == handles::never)
        return;
      self->timer_->expires_at(clock::time_point{std::chrono::duration_cast<clock::duration>(self->armed_)});
      guard.unlock();
      self->timer_->async_wait([weak](std::error_code cancelled) {
        if (auto alive = weak.lock(); alive && !cancelled)
          alive->tick();
      });
    }
  });
}

void object_exchange::tick() {
  std::lock_guard guard{mutex_};
  if (is_ended_)
    return;
  armed_ = handles::never;
  ledger_.tick();
  settle();
}

} // namespace troupe::internal
