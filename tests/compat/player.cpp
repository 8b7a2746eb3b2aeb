#include "player.hpp"

#include <algorithm>
#include <span>
#include <stdexcept>
#include <string_view>

namespace troupe::tests::compat {

namespace {

std::span<const std::byte> view_of(std::string_view text) {
  return std::as_bytes(std::span{text});
}

bytes bytes_of(const internal::digest& from) {
  return {from.begin(), from.end()};
}

/// A step of the transcript: framework/link-protocol.md, "Transcript".
internal::digest step(const internal::digest& before, std::uint8_t what, const bytes& said) {
  bytes all{before.begin(), before.end()};
  all.push_back(static_cast<std::byte>(what));
  for (unsigned shift = 0; shift < 64; shift += 8)
    all.push_back(static_cast<std::byte>(static_cast<std::uint64_t>(said.size()) >> shift & 0xff));
  all.insert(all.end(), said.begin(), said.end());
  return internal::sha256(all);
}

constexpr std::uint8_t session_step = 3;

/// Names the actor or object that a release is about. Its number belongs to the recorded end.
std::string subject_of(const statement& release) {
  std::string result = std::to_string(release.detail);
  for (const auto& each : release.fields)
    if (each.rule == field::rule::own_number)
      result += '/' + std::to_string(each.number);
  return result;
}

bool is_release(const statement& said) {
  return said.is_admin(op::release_actor) || said.is_admin(op::release_handle);
}

std::int64_t count_of(const statement& release) {
  return static_cast<std::int64_t>(release.find("count")->number);
}

} // namespace

player::player(int connected, end mine, const conversation& recorded)
    : wire_(connected), mine_(mine), recorded_(recorded), transcript_(internal::sha256(view_of("troupe handshake"))) {
  std::map<end, link_reader> readers;
  for (std::size_t i = 0; i < recorded.packets.size(); ++i) {
    const auto& each = recorded.packets[i];
    const auto& said = statements_.emplace_back(readers[each.from].read(each));
    if (each.from == mine)
      continue;
    if (said.what == statement::sort::normal)
      missing_.insert(i);
    else if (is_release(said))
      releases_[subject_of(said)] += count_of(said);
  }
  transcript_ = step(transcript_, static_cast<std::uint8_t>(end::dialer), preamble());
  transcript_ = step(transcript_, static_cast<std::uint8_t>(end::acceptor), preamble());
}

void player::play(const std::function<void()>& all_but_farewell) {
  wire_.write(preamble());
  bytes theirs(preamble().size());
  if (!wire_.read(theirs) || theirs != preamble())
    throw std::runtime_error("the live end does not speak protocol 1");
  for (std::size_t i = 0; i < statements_.size(); ++i) {
    if (statements_[i].is_admin(op::goodbye)) {
      hear_rest();
      all_but_farewell();
    }
    if (recorded_.packets[i].from != mine_)
      hear_all(i);
    else if (!statements_[i].is_admin(op::pong)) // Pings are answered when they come.
      say(i);
  }
  if (!missing_.empty())
    throw std::runtime_error("the recording has no goodbye");
}

void player::say(std::size_t index) {
  auto own = statements_[index];
  auto speaking = recorded_.packets[index];
  const auto has_numbers =
      own.what == statement::sort::normal || own.what == statement::sort::timed || own.kind == kind::handles;
  if (has_numbers) {
    make_fresh(own);
    speaking.body = body_for(own, known_);
  }
  add_to_transcript(speaking);
  wire_.write_packet(speaking);
}

void player::hear_all(std::size_t index) {
  while (missing_.contains(index))
    hear_one();
}

bool player::has_rest() const {
  const auto is_due = [](const auto& each) { return each.second > 0; };
  if (std::ranges::any_of(releases_, is_due))
    return true;
  for (std::size_t i = 0; i < statements_.size(); ++i)
    if (recorded_.packets[i].from != mine_ && statements_[i].is_admin(op::credit)) {
      const auto& actor = *statements_[i].find("actor");
      const auto live = known_.live(actor.domain, actor.number);
      if (!live || !credited_.contains(*live))
        return true;
    }
  return false;
}

void player::hear_rest() {
  while (has_rest())
    hear_one();
  for (const auto& [subject, left] : releases_)
    if (left < 0)
      throw std::runtime_error("the live end has released " + subject + " more often than recorded");
}

void player::hear_one() {
  const auto heard = wire_.read_packet(other(mine_));
  if (!heard) {
    std::string what = missing_.empty() ? "releases or credit" : summary_of(statements_[*missing_.begin()]);
    throw std::runtime_error("the live end has closed or is silent; still expected: " + what);
  }
  const auto said = live_.read(*heard);
  check_proofs(said);
  add_to_transcript(*heard);
  if (said.is_admin(3) || (said.is_admin(op::goodbye) && missing_.size() > 1))
    throw std::runtime_error("the live end ends the link: " + summary_of(said));
  switch (said.what) {
  case statement::sort::definition:
    return;
  case statement::sort::timed:
    return take_timed(said);
  case statement::sort::normal:
    return take(said);
  case statement::sort::unknown:
    if (said.kind < kind::first_skippable && (said.kind != kind::admin || said.detail < kind::first_skippable))
      throw std::runtime_error("a frozen peer has to understand a packet of kind " + std::to_string(said.kind)
                               + " with detail " + std::to_string(said.detail) + ", and does not know it");
  }
}

void player::take_timed(const statement& said) {
  if (said.is_admin(op::ping)) {
    bytes body{std::byte{0x81}, std::byte{0xa8}};
    for (const auto each : view_of("reserved"))
      body.push_back(each);
    body.push_back(std::byte{0});
    wire_.write_packet({.from = mine_, .kind = kind::admin, .detail = op::pong, .body = body});
  } else if (said.is_admin(op::credit)) {
    credited_.insert(said.find("actor")->number);
  } else if (is_release(said)) {
    releases_[subject_of(said)] -= count_of(said);
  }
}

void player::take(const statement& said) {
  std::string nearest;
  for (const auto index : missing_) {
    const auto& expected = statements_[index];
    if (expected.kind != said.kind || (said.kind == kind::admin && expected.detail != said.detail))
      continue;
    auto trial = known_;
    auto why = difference(expected, said, trial);
    if (why.empty()) {
      known_ = std::move(trial);
      missing_.erase(index);
      return;
    }
    if (nearest.empty())
      nearest = "; " + why;
  }
  throw std::runtime_error("the recording has no such packet: " + summary_of(said) + nearest);
}

// -- the handshake

void player::add_to_transcript(const packet& what) {
  if (is_open_)
    return;
  auto whole = head_of(what);
  whole.insert(whole.end(), what.body.begin(), what.body.end());
  transcript_ = step(transcript_, static_cast<std::uint8_t>(what.from), whole);
  if (what.kind == kind::admin && what.detail == op::greet && ++greetings_ == 2)
    transcript_ = step(transcript_, session_step, {});
  is_open_ = what.kind == kind::admin && what.detail == op::opened;
}

bytes player::proof(end by, const std::string& label_of_dialer, const std::string& label_of_acceptor,
                    std::span<const std::byte> key) const {
  const auto label = view_of(by == end::dialer ? label_of_dialer : label_of_acceptor);
  bytes text{label.begin(), label.end()};
  text.insert(text.end(), transcript_.begin(), transcript_.end());
  return bytes_of(internal::hmac_sha256(key, text));
}

bytes player::shared_key() const {
  const auto shared = key_.shared_with(live_token_);
  if (!shared)
    throw std::runtime_error("the live end's token is no public part of a key");
  return bytes_of(*shared);
}

void player::make_fresh(statement& own) {
  if (is_open_ || own.kind != kind::admin)
    return;
  const auto secret = view_of(recorded_secret);
  if (own.detail == op::greet)
    set_binary(own, "nonce", bytes_of(internal::random_digest()));
  if (own.detail == op::prove)
    set_binary(own, "proof",
               proof(mine_, "troupe dialer knows the secret", "troupe acceptor knows the secret", secret));
  if (own.detail == op::hello)
    set_binary(own, "token", bytes_of(key_.public_part()));
  if (own.detail == op::ready || own.detail == op::opened) {
    set_binary(own, "proof", proof(mine_, "troupe dialer is ready", "troupe acceptor has opened", secret));
    set_binary(own, "key_proof",
               proof(mine_, "troupe dialer has its node key", "troupe acceptor has its node key", shared_key()));
  }
}

void player::check_proofs(const statement& theirs) {
  if (is_open_ || theirs.kind != kind::admin)
    return;
  const auto by = other(mine_);
  const auto secret = view_of(recorded_secret);
  const auto expect = [&](const char* path, const bytes& right) {
    const auto* stated = theirs.find(path);
    if (stated == nullptr || stated->value != right)
      throw std::runtime_error(std::string{"the live end's "} + path + " is wrong");
  };
  if (theirs.detail == op::hello) {
    const auto* token = theirs.find("token");
    live_token_ = token == nullptr ? bytes{} : token->value;
  } else if (theirs.detail == op::prove) {
    expect("proof", proof(by, "troupe dialer knows the secret", "troupe acceptor knows the secret", secret));
  } else if (theirs.detail == op::ready || theirs.detail == op::opened) {
    expect("proof", proof(by, "troupe dialer is ready", "troupe acceptor has opened", secret));
    expect("key_proof", proof(by, "troupe dialer has its node key", "troupe acceptor has its node key", shared_key()));
  }
}

} // namespace troupe::tests::compat
