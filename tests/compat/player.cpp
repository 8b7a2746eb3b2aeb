#include "player.hpp"

#include <algorithm>
#include <chrono>
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
constexpr std::chrono::seconds longest_wait{20};

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

/// Of a question for a name, or of news about one.
std::string name_in(const statement& said) {
  const auto& name = said.find("name")->value;
  return {reinterpret_cast<const char*>(name.data()), name.size()};
}

std::uint64_t microseconds_now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(now).count());
}

} // namespace

player::player(int connected, end mine, const packets& recorded, played_node& node)
    : wire_(connected),
      mine_(mine),
      recorded_(recorded),
      node_(node),
      transcript_(internal::sha256(view_of("troupe handshake"))) {
  node_.known.begin_link();
  std::map<end, link_reader> readers;
  for (std::size_t i = 0; i < recorded.size(); ++i) {
    const auto& each = recorded[i];
    const auto& said = statements_.emplace_back(readers[each.from].read(each));
    if (each.from == mine)
      continue;
    if (said.what == statement::sort::normal)
      missing_.insert(i);
    else if (is_release(said))
      releases_[subject_of(said)] += count_of(said);
  }
  excuse_repeated_questions();
  transcript_ = step(transcript_, static_cast<std::uint8_t>(end::dialer), preamble());
  transcript_ = step(transcript_, static_cast<std::uint8_t>(end::acceptor), preamble());
}

/// The live end may ask for a name once where the recording asks several times, which depends on time.
void player::excuse_repeated_questions() {
  std::map<std::string, const statement*> answers; // The last one for each name, until there is news of it.
  std::map<std::uint64_t, std::pair<std::size_t, const statement*>> open; // By its number: where a question is, and
                                                                          // what its asker knew.
  for (std::size_t i = 0; i < statements_.size(); ++i) {
    const auto& said = statements_[i];
    const auto is_mine = recorded_[i].from == mine_;
    if (!is_mine && said.is_admin(op::find)) {
      const auto known = answers.find(name_in(said));
      open[said.find("query")->number] = {i, known == answers.end() ? nullptr : known->second};
    } else if (is_mine && said.is_admin(op::name_changed)) {
      answers.erase(name_in(said));
    } else if (is_mine && said.is_admin(op::found)) {
      const auto query = said.find("query")->number;
      const auto [at, known] = open[query];
      const auto& actor = *said.find("actor");
      if (known != nullptr && known->find("actor")->number == actor.number) {
        excused_.insert({at, i});
        missing_.erase(at);
        count_mention(actor, -1);
      } else {
        answers[name_asked_by(query)] = &said;
      }
    }
  }
}

/// Notes that the live end has to release the actor once more, or once less.
void player::count_mention(const field& actor, std::int64_t change) {
  if (actor.number != 0 && !actor.is_readers)
    releases_[std::to_string(op::release_actor) + '/' + std::to_string(actor.number)] += change;
}

void player::play(const std::function<void()>& all_but_farewell) {
  wire_.write(preamble());
  bytes theirs(preamble().size());
  if (!wire_.read(theirs) || theirs != preamble())
    throw std::runtime_error("the live end does not speak protocol 1");
  for (next_ = 0; next_ < statements_.size(); ++next_) {
    if (statements_[next_].is_admin(op::goodbye)) {
      hear_rest();
      all_but_farewell();
    }
    if (recorded_[next_].from != mine_)
      hear_all(next_);
    else if (is_to_be_said(next_))
      say(next_);
  }
}

/// Pings are answered when they come, as repeated questions.
bool player::is_to_be_said(std::size_t index) const {
  return !statements_[index].is_admin(op::pong) && !recorded_[index].is_lost && !excused_.contains(index);
}

void player::say(std::size_t index) {
  auto own = statements_[index];
  auto speaking = recorded_[index];
  const auto has_numbers =
      own.what == statement::sort::normal || own.what == statement::sort::timed || own.kind == kind::handles;
  if (has_numbers) {
    make_fresh(own);
    node_.known.keep_ids(own);
    speaking.body = body_for(own, node_.known);
  }
  add_to_transcript(speaking);
  wire_.write_packet(speaking);
  if (own.is_admin(op::found))
    answers_[name_asked_by(own.find("query")->number)] = index;
}

/// The name in the live end's recorded question.
std::string player::name_asked_by(std::uint64_t query) const {
  for (std::size_t i = 0; i < statements_.size(); ++i)
    if (recorded_[i].from != mine_ && statements_[i].is_admin(op::find)
        && statements_[i].find("query")->number == query)
      return name_in(statements_[i]);
  throw std::runtime_error("the recording answers a question that it does not have");
}

void player::hear_all(std::size_t index) {
  hear_while([&] { return missing_.contains(index); });
}

/// A live end that only pings is as good as silent.
void player::hear_while(const std::function<bool()>& is_due) {
  using clock = std::chrono::steady_clock;
  const auto until = clock::now() + longest_wait;
  while (is_due()) {
    hear_one();
    if (clock::now() > until && is_due())
      fail_to_hear("says nothing of what is due");
  }
}

void player::fail_to_hear(const std::string& why) const {
  throw std::runtime_error("the live end " + why + "; still expected: "
                           + (missing_.empty() ? "releases or credit" : summary_of(statements_[*missing_.begin()])));
}

bool player::has_rest() const {
  const auto is_due = [](const auto& each) { return each.second > 0; };
  if (std::ranges::any_of(releases_, is_due))
    return true;
  for (std::size_t i = 0; i < statements_.size(); ++i)
    if (recorded_[i].from != mine_ && statements_[i].is_admin(op::credit)) {
      const auto& actor = *statements_[i].find("actor");
      const auto live = node_.known.live(actor.domain, actor.number);
      if (!live || !credited_.contains(*live))
        return true;
    }
  return false;
}

void player::hear_rest() {
  hear_while([this] { return has_rest(); });
  for (const auto& [subject, left] : releases_)
    if (left < 0)
      throw std::runtime_error("the live end has released " + subject + " more often than recorded");
}

void player::hear_one() {
  const auto heard = wire_.read_packet(other(mine_));
  if (!heard)
    fail_to_hear("has closed or is silent");
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
    if (expected.kind != said.kind || (said.kind == kind::admin && expected.detail != said.detail)
        || !may_come_now(index))
      continue;
    auto trial = node_.known;
    auto why = difference(expected, said, trial);
    if (why.empty()) {
      node_.known = std::move(trial);
      missing_.erase(index);
      return;
    }
    if (nearest.empty())
      nearest = "; " + why;
  }
  if (said.is_admin(op::find) && answer_again(said))
    return;
  throw std::runtime_error("the recording has no such packet: " + summary_of(said) + nearest);
}

/// A question for a name comes after the news that it is about.
bool player::may_come_now(std::size_t index) const {
  const auto& expected = statements_[index];
  if (!expected.is_admin(op::find))
    return true;
  for (auto i = next_; i < index; ++i)
    if (recorded_[i].from == mine_ && statements_[i].is_admin(op::name_changed)
        && name_in(statements_[i]) == name_in(expected))
      return false;
  return true;
}

/// A name may be asked for more often than recorded. Returns false if it was not asked for before.
bool player::answer_again(const statement& question) {
  const auto last = answers_.find(name_in(question));
  if (last == answers_.end())
    return false;
  auto answer = statements_[last->second];
  set_number(answer, "query", question.find("query")->number);
  wire_.write_packet({.from = mine_, .kind = kind::admin, .detail = op::found, .body = body_for(answer, node_.known)});
  count_mention(*answer.find("actor"), 1);
  return true;
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
  const auto shared = node_.key.shared_with(live_token_);
  if (!shared)
    throw std::runtime_error("the live end's token is no public part of a key");
  return bytes_of(*shared);
}

void player::make_fresh(statement& own) {
  if (own.kind == kind::message)
    set_number(own, sent_at, microseconds_now());
  if (is_open_ || own.kind != kind::admin)
    return;
  const auto secret = view_of(recorded_secret);
  if (own.detail == op::greet)
    set_binary(own, "nonce", bytes_of(internal::random_digest()));
  if (own.detail == op::prove)
    set_binary(own, "proof",
               proof(mine_, "troupe dialer knows the secret", "troupe acceptor knows the secret", secret));
  if (own.detail == op::hello)
    set_binary(own, "token", bytes_of(node_.key.public_part()));
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
