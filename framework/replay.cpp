#include <troupe/framework/replay.hpp>

#include <algorithm>
#include <cmath>
#include <deque>
#include <expected>
#include <memory>
#include <unordered_map>
#include <utility>

#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>
#include <caf/make_message.hpp>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/caf_port/actors/answer_collector.hpp>
#include <troupe/framework/internal/caf_port/message_view.hpp>
#include <troupe/framework/internal/caf_port/raw_message.hpp>
#include <troupe/framework/internal/tape/link_words.hpp>
#include <troupe/framework/internal/tape/record_difference.hpp>
#include <troupe/framework/internal/words/failing.hpp>
#include <troupe/framework/internal/words/text.hpp>
#include <troupe/serializers/serialize.hpp>

namespace troupe {

namespace {

using std::chrono::nanoseconds;
using std::chrono::steady_clock;
using reason = std::unexpected<std::string>;

constexpr std::chrono::seconds progress_interval{1};
// How often room on the link is looked for.
constexpr std::chrono::milliseconds glance{1};
// What a message takes while it waits, beside its bytes.
constexpr std::uint64_t message_bytes_more = 640;
// Answers that wait for the other one, the recorded or the real one. Beyond them, answers are not compared.
constexpr std::size_t open_answers_max = 65'536;

std::string in_quotes(const std::string& text) {
  return '"' + internal::cut(text) + '"';
}

/// CAF treats messages of these types in its own way.
bool is_of_system(const tape_message& message) {
  return std::ranges::any_of(message.elements,
                             [](const auto& each) { return each.type == "caf.exit" || each.type == "caf.error"; });
}

/// Values and payloads in the form in which they can be compared, and encoded again.
class payload_reader {
public:
  payload_reader(const type_registry& types, const family_set& families) : types_(types), families_(families) {}

  /// The value of a payload. Fails with the reason if it needs the program.
  [[nodiscard]] std::expected<record, std::string> record_of(const tape_element& of) const {
    if (!of.missing.empty())
      return reason{of.missing};
    if (types_.find(of.type) != nullptr && families_.find(of.family) != nullptr) {
      const auto value =
          deserialize_any(of.content, {.deserializers = {of.family}, .context = bounds()}, types_, families_);
      if (!value)
        return reason{value.error().message()};
      return record_of(*value->entry(), value->data());
    }
    auto value = to_record(of);
    if (!value)
      return reason{value.error().message()};
    return *std::move(value);
  }

  /// By msgpack.
  [[nodiscard]] std::expected<payload, std::string> encoded_value(const type_entry& type, const void* value) const {
    auto encoded = serialize_entry(type, value, {.serializers = {"msgpack"}, .context = bounds()}, types_, families_);
    if (!encoded)
      return reason{encoded.error().message()};
    return *std::move(encoded);
  }

  [[nodiscard]] std::expected<record, std::string> record_of(const type_entry& type, const void* value) const {
    auto encoded = encoded_value(type, value);
    if (!encoded)
      return reason{std::move(encoded).error()};
    auto made = to_record({.type = type.alias(), .family = "msgpack", .content = *encoded});
    if (!made)
      return reason{made.error().message()};
    return *std::move(made);
  }

  /// The payload by the first of the families that can be had. Empty list: as it is.
  [[nodiscard]] std::expected<payload, std::string> encoded(const tape_element& of,
                                                            const std::vector<std::string>& by) const {
    if (by.empty() || by.front() == of.family)
      return of.content;
    if (!of.actors.empty() || of.objects > 0)
      return reason{"it has handles, so it can only be sent as it was"};
    std::string why;
    for (const auto& family : by) {
      auto made = family == of.family ? std::expected<payload, std::string>{of.content} : encoded(of, family);
      if (made)
        return made;
      why = std::move(made).error();
    }
    return reason{"it cannot be encoded by " + internal::bracketed(by) + ": " + why};
  }

private:
  [[nodiscard]] static context bounds() { return {.limits = internal::taped_header_limits()}; }

  [[nodiscard]] std::expected<payload, std::string> encoded(const tape_element& of, const std::string& family) const {
    std::expected<payload, serialize_error> made{payload{}};
    const auto* const known = types_.find(of.type);
    if (known != nullptr) {
      const auto value =
          deserialize_any(of.content, {.deserializers = {of.family}, .context = bounds()}, types_, families_);
      if (!value)
        return reason{value.error().message()};
      made = serialize_entry(*value->entry(), value->data(), {.serializers = {family}, .context = bounds()}, types_,
                             families_);
    } else if (family == "msgpack" || family == "json") {
      const auto value = to_record(of);
      if (!value)
        return reason{value.error().message()};
      made = serialize(*value, {.serializers = {family}, .context = bounds()}, types_, families_);
    } else {
      return reason{family + " needs the program"};
    }
    if (!made)
      return reason{made.error().message()};
    const auto fields = parse_header(made->header.bytes(), internal::taped_header_limits());
    if (!fields)
      return reason{fields.error().message()};
    auto renamed = *fields;
    renamed.type = of.type;
    if (known == nullptr)
      renamed.schema = {};
    return payload{make_header(renamed), std::move(made->frames)};
  }

  const type_registry& types_;
  const family_set& families_;
};

/// An answer's elements: as on the tape.
using answer_elements = std::vector<tape_element>;

/// One replay.
class replayer {
public:
  replayer(link& to, caf::actor_system& system, const type_registry& types, const family_set& families,
           const replay_options& options)
      : link_(to), types_(types), reader_(types, families), options_(options), answers_(system) {}

  std::expected<replay_report, node_error> run(tape& from) {
    for (std::size_t file = 0;; ++file) {
      while (auto event = from.next()) {
        if (std::holds_alternative<tape_damage>(*event))
          ++report_.damages;
        else if (auto* message = std::get_if<tape_message>(&*event))
          take(std::move(*message));
        if (!report_.ended_early.empty())
          break;
      }
      if (file == options_.next_files.size() || !report_.ended_early.empty())
        break;
      if (auto next = from.go_on(options_.next_files[file]); !next)
        return std::unexpected{std::move(next).error()};
    }
    while (!open_.empty() && report_.ended_early.empty())
      handle_answers(earliest_deadline());
    if (options_.progress)
      options_.progress(report_);
    return std::move(report_);
  }

private:
  using came_elements = std::vector<std::expected<tape_element, std::string>>;
  struct open_request {
    std::uint64_t message = 0; // On the tape.
    std::string actor;
    steady_clock::time_point deadline;
  };

  // -- messages of the tape

  void take(tape_message message) {
    if (message.kind == tape_message_kind::answer)
      return expect(message);
    if (options_.side && message.writer != *options_.side)
      return;
    auto sent = send(message);
    if (sent)
      return;
    ++report_.skipped[std::move(sent).error()];
    const auto is_chosen = options_.actors.empty() || options_.actors.contains(message.to.name);
    if (message.kind == tape_message_kind::request && !message.to.name.empty() && is_chosen)
      ++report_.unasked;
  }

  [[nodiscard]] std::expected<void, std::string> send(const tape_message& message) {
    if (message.to.name.empty())
      return reason{"the receiver has no name on the tape"};
    if (message.value_bytes)
      return reason{"the tape does not have values that passed within the process"};
    if (!message.missing.empty())
      return reason{message.missing};
    if (is_of_system(message))
      return reason{"exit messages and errors are not sent again"};
    auto receiver = actor_of(message.to);
    if (!receiver)
      return reason{std::move(receiver).error()};
    auto made = raw_of(message);
    if (!made)
      return reason{std::move(made).error()};
    wait_for(message.at);
    if (!wait_for_room(message.wire_bytes))
      return {};
    auto content = caf::make_message(*std::move(made));
    ++report_.messages;
    if (message.kind != tape_message_kind::request) {
      answers_.tell(*receiver, message.is_urgent, std::move(content));
      return {};
    }
    ++report_.requests;
    const auto number = next_number_++;
    open_.emplace(number, open_request{.message = message.number,
                                       .actor = message.to.name,
                                       .deadline = steady_clock::now() + options_.answer_timeout});
    by_time_.push_back(number);
    if (options_.expect_answers)
      asked_.emplace(message.number, message.to.name);
    answers_.ask(*receiver, number, message.is_urgent, std::move(content));
    return {};
  }

  [[nodiscard]] std::expected<internal::raw_message, std::string> raw_of(const tape_message& message) {
    auto types = std::make_shared<internal::signature>();
    internal::raw_message made;
    for (const auto& each : message.elements) {
      if (!each.missing.empty())
        return reason{each.missing};
      if (each.objects > 0)
        return reason{"handles of objects mean nothing after the recording"};
      auto encoded = reader_.encoded(each, options_.families);
      if (!encoded)
        return reason{std::move(encoded).error()};
      if (encoded->frames.empty())
        encoded->frames.emplace_back();
      internal::raw_element element{.content = *std::move(encoded)};
      for (const auto& actor : each.actors) {
        auto known = actor.number == 0 ? std::expected<caf::strong_actor_ptr, std::string>{nullptr} : actor_of(actor);
        if (!known)
          return reason{"of an actor handle: " + known.error()};
        element.actors.push_back(*std::move(known));
      }
      types->aliases.push_back(each.type);
      made.elements.push_back(std::move(element));
    }
    made.types = std::move(types);
    return made;
  }

  /// The actor that stands for the one of that name on the tape. Looked up once.
  [[nodiscard]] std::expected<caf::strong_actor_ptr, std::string> actor_of(const tape_actor& on_tape) {
    if (on_tape.name.empty())
      return reason{"actor " + std::to_string(on_tape.number) + " has no name on the tape"};
    auto name = on_tape.name;
    if (!options_.actors.empty()) {
      const auto chosen = options_.actors.find(name);
      if (chosen == options_.actors.end())
        return reason{"the actor " + in_quotes(name) + " was not chosen"};
      name = chosen->second;
    }
    const auto known = found_.find(name);
    if (known != found_.end())
      return known->second;
    auto found = link_.find(name, options_.find_timeout);
    std::expected<caf::strong_actor_ptr, std::string> result{nullptr};
    if (found)
      *result = caf::actor_cast<caf::strong_actor_ptr>(*found);
    else
      result = reason{"the actor " + in_quotes(name) + " was not found: " + found.error().message()};
    begin_.reset(); // Looking for it is no delay of the messages that follow.
    return found_.emplace(name, std::move(result)).first->second;
  }

  // -- time

  void wait_for(nanoseconds at) {
    const auto now = steady_clock::now();
    if (!begin_)
      begin_ = {now, at};
    auto due = begin_->first;
    if (options_.speed > 0)
      due += nanoseconds{std::llround(static_cast<double>((at - begin_->second).count()) / options_.speed)};
    do
      handle_answers(due);
    while (steady_clock::now() < due);
    if (options_.speed > 0)
      report_.latest = std::max(report_.latest, nanoseconds{steady_clock::now() - due});
  }

  /// Waits until the bounds admit a message. Returns false if the replay is over.
  [[nodiscard]] bool wait_for_room(std::uint64_t message_bytes) {
    while (open_.size() >= options_.requests_most)
      handle_answers(earliest_deadline());
    unchecked_bytes_ += message_bytes + message_bytes_more;
    if (link_.is_open() && unchecked_bytes_ < options_.waiting_bytes_most / 4)
      return true;
    unchecked_bytes_ = 0;
    const auto deadline = steady_clock::now() + options_.answer_timeout;
    while (link_.is_open() && link_.stats().waiting_bytes > options_.waiting_bytes_most) {
      if (steady_clock::now() >= deadline) {
        report_.ended_early =
            "the peer has taken no message for " + std::to_string(options_.answer_timeout.count()) + " ms";
        return false;
      }
      handle_answers(steady_clock::now() + glance);
    }
    if (!link_.is_open())
      report_.ended_early = "the link has ended";
    return report_.ended_early.empty();
  }

  [[nodiscard]] steady_clock::time_point earliest_deadline() {
    while (!by_time_.empty() && !open_.contains(by_time_.front()))
      by_time_.pop_front();
    return by_time_.empty() ? steady_clock::now() : open_.at(by_time_.front()).deadline;
  }

  // -- answers

  /// Handles the answers that have come, and waits for one until `until`, or until there is something else to do.
  void handle_answers(steady_clock::time_point until) {
    const auto next_progress = last_progress_ + progress_interval;
    for (auto& each : answers_.take(std::min(until, next_progress)))
      handle(each);
    const auto now = steady_clock::now();
    while (!by_time_.empty() && earliest_deadline() <= now && !by_time_.empty())
      time_out(by_time_.front());
    if (now >= next_progress) {
      last_progress_ = now;
      if (options_.progress)
        options_.progress(report_);
    }
  }

  void handle(const internal::collected_answer& answer) {
    const auto request = open_.find(answer.number);
    if (request == open_.end()) // Too late.
      return;
    const auto message = request->second.message;
    ++report_.answers;
    open_.erase(request);
    if (!options_.expect_answers)
      return;
    if (const auto expected = recorded_.find(message); expected != recorded_.end()) {
      compare(message, elements_of(answer.content), expected->second);
      recorded_.erase(expected);
      asked_.erase(message);
    } else if (came_.size() < open_answers_max) {
      came_.emplace(message, elements_of(answer.content));
    } else {
      asked_.erase(message);
      ++report_.uncompared;
    }
  }

  void time_out(std::uint64_t number) {
    const auto request = open_.find(number);
    ++report_.unanswered;
    if (options_.expect_answers)
      differ(request->second.message, request->second.actor,
             "no answer within " + std::to_string(options_.answer_timeout.count()) + " ms");
    recorded_.erase(request->second.message);
    asked_.erase(request->second.message);
    open_.erase(request);
  }

  /// A recorded answer.
  void expect(tape_message& answer) {
    if (!asked_.contains(answer.answers))
      return;
    if (const auto came = came_.find(answer.answers); came != came_.end()) {
      compare(answer.answers, came->second, answer.elements);
      came_.erase(came);
      asked_.erase(answer.answers);
    } else if (recorded_.size() < open_answers_max) {
      recorded_.emplace(answer.answers, std::move(answer.elements));
    }
  }

  /// The elements of an answer that came, as if they were on a tape.
  [[nodiscard]] came_elements elements_of(const caf::message& content) const;

  void compare(std::uint64_t message, const came_elements& found, const answer_elements& expected) {
    std::vector<std::string> found_types;
    for (const auto& each : found)
      found_types.push_back(each ? each->type : "?");
    std::vector<std::string> expected_types;
    for (const auto& each : expected)
      expected_types.push_back(each.type);
    if (found_types != expected_types)
      return differ(message, asked_[message], types_text(found) + " instead of " + internal::bracketed(expected_types));
    auto is_known = true;
    for (std::size_t i = 0; i < found.size(); ++i) {
      const auto& mine = *found[i];
      const auto& theirs = expected[i];
      if (std::ranges::equal(mine.content.frames, theirs.content.frames,
                             [](const frame& a, const frame& b) { return std::ranges::equal(a.bytes(), b.bytes()); })
          && mine.family == theirs.family)
        continue;
      const auto mine_as_record = reader_.record_of(mine);
      const auto theirs_as_record = reader_.record_of(theirs);
      if (!mine_as_record || !theirs_as_record || !theirs.actors.empty() || theirs.objects > 0) {
        is_known = false;
        continue;
      }
      if (auto difference = internal::first_difference(*mine_as_record, *theirs_as_record))
        return differ(message, asked_[message],
                      (found.size() > 1 ? "element " + std::to_string(i) + ": " : "") + *difference);
    }
    ++(is_known ? report_.same : report_.uncompared);
  }

  /// The types, and the text of an error.
  [[nodiscard]] std::string types_text(const came_elements& of) const {
    std::vector<std::string> names;
    for (const auto& each : of)
      names.push_back(each ? each->type : "a value that cannot be read: " + each.error());
    auto text = internal::bracketed(names);
    if (of.size() == 1 && of[0] && of[0]->type == "caf.error")
      if (const auto value = reader_.record_of(*of[0]))
        text += ' ' + to_text(*value);
    return text;
  }

  void differ(std::uint64_t message, const std::string& actor, std::string what) {
    if (!what.starts_with("no answer"))
      ++report_.different;
    if (report_.differences.size() < options_.differences_most)
      report_.differences.push_back({message, actor, internal::one_line(what)});
  }

  link& link_;
  const type_registry& types_;
  const payload_reader reader_;
  const replay_options& options_;
  internal::answer_collector answers_;
  replay_report report_;

  std::map<std::string, std::expected<caf::strong_actor_ptr, std::string>> found_;
  std::optional<std::pair<steady_clock::time_point, nanoseconds>> begin_; // Of the replay, and on the tape.
  steady_clock::time_point last_progress_ = steady_clock::now();

  std::uint64_t unchecked_bytes_ = 0; // Sent since the link was last asked how much waits.

  std::uint64_t next_number_ = 1;
  std::unordered_map<std::uint64_t, open_request> open_; // By the number of this replay.
  std::deque<std::uint64_t> by_time_;                    // Requests in their order; some are answered.
  // By the number of the request on the tape, if answers are compared.
  std::unordered_map<std::uint64_t, std::string> asked_; // That were sent, until both answers are there.
  std::unordered_map<std::uint64_t, answer_elements> recorded_;
  std::unordered_map<std::uint64_t, came_elements> came_;
};

replayer::came_elements replayer::elements_of(const caf::message& content) const {
  came_elements result;
  const internal::message_view view{content};
  for (std::size_t i = 0; i < view.size(); ++i) {
    const auto* const type = view.type(i).entry_in(types_);
    if (type == nullptr) {
      result.push_back(reason{view.type(i).name()});
    } else if (internal::is_raw(*type)) {
      const auto& raw = *static_cast<const internal::raw_payload*>(view.value(i));
      const auto fields = parse_header(raw.content.header.bytes(), internal::taped_header_limits());
      result.push_back(tape_element{.type = raw.alias,
                                    .family = std::string{fields ? fields->family : std::string_view{}},
                                    .content = raw.content});
    } else {
      // Its bytes are gone, so it is encoded again.
      auto encoded = reader_.encoded_value(*type, view.value(i));
      if (encoded)
        result.push_back(tape_element{.type = type->alias(), .family = "msgpack", .content = *std::move(encoded)});
      else // It has handles, for example. Its type can be compared.
        result.push_back(tape_element{.type = type->alias(), .missing = std::move(encoded).error()});
    }
  }
  return result;
}

} // namespace

void add_replay_types(type_registry& types) {
  internal::add_raw_types(types);
}

std::expected<replay_report, node_error> replay(tape& from, link& to, caf::actor_system& system,
                                                const type_registry& types, const family_set& families,
                                                const replay_options& options) {
  if (internal::raw_type(types) == nullptr)
    return internal::bad_option("the node's registry needs add_replay_types()");
  if (!(options.speed >= 0) || std::isinf(options.speed))
    return internal::bad_option("speed is " + std::to_string(options.speed) + "; it is a finite number from 0 on");
  if (options.requests_most == 0)
    return internal::bad_option("requests_most is 0, so no request could be sent");
  if (const auto known = families.resolve(options.families); !known)
    return internal::bad_option(known.error().message());
  return replayer{to, system, types, families, options}.run(from);
}

} // namespace troupe
