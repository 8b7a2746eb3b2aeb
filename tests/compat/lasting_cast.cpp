#include "lasting_cast.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>

#include <troupe/base/value_or_throw.hpp>
#include <troupe/framework/caf_family/caf_family.hpp>
#include <troupe/framework/deadline.hpp>
#include <troupe/framework/lasting.hpp>
#include <troupe/framework/tracing.hpp>
#include <troupe/serializers/cereal/cereal_family.hpp>

#include "../eventually.hpp"

#include "conversation.hpp"

namespace troupe::tests::compat {

using namespace std::chrono_literals;

namespace {

constexpr auto time_limit = 20s;

// Entries of a ledger.
constexpr int first_entry = 1;
constexpr int lost_entry = 2; // The link breaks before its answer arrives.
constexpr int releasing_entry = 3;
constexpr int sampled_entry = 4, unsampled_entry = 5;
constexpr int moved_entry = 6; // To the second ledger, as refused_entry.
constexpr int refused_entry = -1;

// Wishes.
constexpr auto a_late_answer = "a late answer"; // After the releasing entry.
constexpr auto another_ledger = "another ledger";
constexpr auto no_ledger = "no ledger";

constexpr auto ledger_name = "ledger";

int answer_of(int ledger, int entry) {
  return 100 * ledger + entry;
}

/// The map with this baggage has more bytes than maps had before protocol 1.3.
const trace_context& sampled_context() {
  static const auto context = trace_context::parse("00-00112233445566778899aabbccddeeff-0123456789abcdef-01",
                                                   "troupe=frozen,other=1", "tenant=42,note=" + std::string(1'200, 'n'))
                                  .value();
  return context;
}

constexpr auto unsampled_baggage = "tenant=43";

/// Checks the context of a handler. Both ends use it.
void check_context(findings& to, const caf::local_actor* self, int entry) {
  const auto context = current_context(self);
  if (!context) {
    to.add("entry " + std::to_string(entry) + " has no trace context");
    return;
  }
  const auto is_sampled = entry == sampled_entry;
  const auto& expected = sampled_context();
  to.expect(context->is_sampled() == is_sampled, "a context has another flag");
  to.expect((context->trace() == expected.trace()) == is_sampled, "a context has another trace");
  to.expect(context->has_span() && context->span() != expected.span(), "a context has another span");
  to.expect(context->tracestate() == (is_sampled ? expected.tracestate() : ""), "a context has another tracestate");
  to.expect(context->baggage() == (is_sampled ? expected.baggage() : unsampled_baggage),
            "a context has another baggage");
}

void check_deadline(findings& to, caf::local_actor* self, int entry) {
  const auto left = deadline(self);
  to.expect(left.has_value() == (entry == sampled_entry) && (!left || (*left > 0s && *left <= time_limit)),
            "entry " + std::to_string(entry) + " has another deadline");
}

/// Checks the spans of a node: their kinds, and that all are of the sampled trace.
void check_spans(findings& to, const span_collector& collected, std::vector<span_kind> expected) {
  if (!eventually([&] { return collected.all().size() >= expected.size(); })) {
    to.add("spans are missing");
    return;
  }
  std::vector<span_kind> recorded;
  for (const auto& each : collected.all()) {
    recorded.push_back(each.kind);
    to.expect(each.trace == sampled_context().trace(), "a span belongs to another trace");
    to.expect(each.parent != span_id{}, "a span has no parent");
    to.expect(each.error.empty(), "a span has an error: " + each.error);
    const auto is_of_receiver = each.kind == span_kind::server || each.kind == span_kind::consumer;
    to.expect(each.wire_time.has_value() == is_of_receiver, "a span does not know when its message was sent");
  }
  std::ranges::sort(recorded);
  std::ranges::sort(expected);
  to.expect(recorded == expected, "spans have other kinds");
}

link_options lasting_options_of(const std::string& family) {
  auto options = options_of(family);
  options.send_baggage = true;
  return options;
}

} // namespace

lasting_node::lasting_node(const std::string& name, const std::string& family, const std::string& address) {
  families_.add(std::make_unique<cereal_family>());
  families_.add(std::make_unique<caf_family>());
  node_options options{.name = name, .store = std::nullopt};
  if (!address.empty()) {
    options.listen = {address};
    options.accepted_links = lasting_options_of(family);
  }
  home_.emplace(value_or_throw(node::open(system_, types_, families_, std::move(options))));
  const auto recorded = home_->record_spans(spans_, 0);
  if (!recorded)
    throw std::runtime_error(recorded.error().message());
}

// -- the acceptor

lasting_acceptor_cast::lasting_acceptor_cast(const std::string& family)
    : node_("acceptor", family, "tcp://127.0.0.1:0") {
  for (const auto number : {1, 2})
    ledgers_.push_back(
        node_.system().spawn([this, number](caf::event_based_actor* self) { return ledger(self, number); }));
  publish(1);
}

lasting_acceptor_cast::~lasting_acceptor_cast() {
  for (const auto& each : ledgers_)
    caf::anon_send_exit(each, caf::exit_reason::kill);
}

void lasting_acceptor_cast::publish(int number) {
  const auto& actor = ledgers_.at(static_cast<std::size_t>(number) - 1);
  findings_.expect(node_.home().publish(ledger_name, actor).has_value(), "a ledger is not published");
}

void lasting_acceptor_cast::withdraw() {
  findings_.expect(node_.home().unpublish(ledger_name), "no ledger was published");
}

caf::behavior lasting_acceptor_cast::ledger(caf::event_based_actor* self, int number) {
  auto late = std::make_shared<caf::typed_response_promise<std::string>>();
  return {[this, number, late](int entry) -> caf::result<int> {
            findings_.expect((number == 2) == (entry == moved_entry || entry == refused_entry),
                             "an entry comes to another ledger");
            if (entry == refused_entry) {
              ++heard_.refused;
              return to_caf_error({node_errc::outcome_unknown, "somebody else has to know"});
            }
            ++heard_.entries;
            if (entry == releasing_entry)
              late->deliver(std::string{a_late_answer});
            return answer_of(number, entry);
          },
          [this, self, number](int entry, const caf::actor& witness) { return traced(self, number, entry, witness); },
          [this, self, late](const std::string& wish) -> caf::result<std::string> {
            ++heard_.wishes;
            if (wish == a_late_answer) {
              *late = self->make_response_promise<std::string>();
              return *late;
            }
            findings_.expect(wish == another_ledger || wish == no_ledger, "a wish has other words");
            withdraw();
            if (wish == another_ledger)
              publish(2);
            return wish;
          }};
}

/// Asks the witness in the context of the request, and answers with the witness's answer.
caf::result<int> lasting_acceptor_cast::traced(caf::event_based_actor* self, int number, int entry,
                                               const caf::actor& witness) {
  ++heard_.traced;
  check_context(findings_, self, entry);
  check_deadline(findings_, self, entry);
  self->send(witness, entry);
  auto answer = self->make_response_promise<int>();
  const auto deliver = [answer, number](int value) mutable { answer.deliver(answer_of(number, value)); };
  const auto fail = [answer](caf::error& error) mutable { answer.deliver(std::move(error)); };
  const std::string text = "who?";
  if (entry == sampled_entry)
    request(self, witness, inherit_deadline, entry, text).then(deliver, fail);
  else
    self->request(witness, time_limit, entry, text).then(deliver, fail);
  return answer;
}

std::vector<std::string> lasting_acceptor_cast::problems() const {
  findings all;
  for (const auto& each : findings_.all())
    all.add(each);
  const auto expect = [&](const char* what, int count, int expected) {
    all.expect(count == expected, std::to_string(count) + ' ' + what + " came instead of " + std::to_string(expected));
  };
  expect("entries", heard_.entries, 4); // The repeated one is handled once.
  expect("entries to refuse", heard_.refused, 1);
  expect("traced entries", heard_.traced, 2);
  expect("wishes", heard_.wishes, 3);
  check_spans(all, node_.spans(), {span_kind::server, span_kind::client});
  return all.all();
}

// -- the dialer

namespace {

class lasting_dialer_cast {
public:
  lasting_dialer_cast(const std::string& family, const std::string& address)
      : node_("dialer", family), self_(node_.system()) {
    const auto count = [this](const lasting_event& event) {
      ++(event.what == lasting_event::kind::found ? found_ : lost_);
    };
    ledger_ = value_or_throw(node_.home().lasting(address, ledger_name,
                                                  {.patience = time_limit,
                                                   .retry = request_retry::repeat_idempotent,
                                                   .link = lasting_options_of(family),
                                                   .policy = {.first_pause = 5ms, .longest_pause = 50ms},
                                                   .events = {.callback = count}}));
    witness_ = node_.system().spawn([this](caf::event_based_actor* self) { return witness(self); });
  }
  ~lasting_dialer_cast() { caf::anon_send_exit(witness_, caf::exit_reason::kill); }

  void talk(const conversation_events& events) {
    expect_answer(self_->request(ledger_, time_limit, first_entry), answer_of(1, first_entry));
    repeats(events);
    traces();
    names();
  }

  /// The link closes because no handle needs it any more.
  void close() {
    ledger_ = nullptr;
    expect(eventually([this] { return node_.home().links().empty(); }), "the link stays open");
  }

  [[nodiscard]] std::vector<std::string> problems() {
    findings_.expect(told_ == 2, std::to_string(told_) + " messages came to the witness instead of 2");
    findings_.expect(asked_ == 2, std::to_string(asked_) + " questions came to the witness instead of 2");
    check_spans(findings_, node_.spans(), {span_kind::client, span_kind::consumer, span_kind::server});
    return findings_.all();
  }

private:
  caf::behavior witness(caf::event_based_actor* self) {
    const auto check = [this, self](int entry) {
      check_context(findings_, self, entry);
      if (const auto context = current_context(self); context && entry == unsampled_entry)
        findings_.expect(context->trace() == unsampled_.trace(), "a context has another random trace");
    };
    return {[this, check](int entry) {
              ++told_;
              check(entry);
            },
            [this, self, check](int entry, const std::string& text) {
              ++asked_;
              check(entry);
              check_deadline(findings_, self, entry);
              findings_.expect(text == "who?", "a question has other characters");
              return entry;
            }};
  }

  /// What follows would wait in vain, so a failure ends the conversation.
  static void expect(bool right, const std::string& what) {
    if (!right)
      throw std::runtime_error(what);
  }

  template <class Asked, class Value>
  void expect_answer(Asked asked, const Value& expected) {
    asked.receive([&](const Value& value) { expect(value == expected, "an answer has another value"); },
                  [](const caf::error& error) { throw std::runtime_error(text_of(error)); });
  }

  void repeats(const conversation_events& events) {
    events.before_lost_answer();
    expect_answer(self_->request(ledger_, time_limit, lost_entry), answer_of(1, lost_entry));
    const std::string late = a_late_answer;
    auto waiting = self_->request(ledger_, time_limit, late); // So the next request does not settle all before it.
    expect_answer(self_->request(ledger_, time_limit, releasing_entry), answer_of(1, releasing_entry));
    expect_answer(std::move(waiting), late);
  }

  void traces() {
    expect_answer(with_context(sampled_context(),
                               [this] { return request(self_.ptr(), ledger_, time_limit, sampled_entry, witness_); })(),
                  answer_of(1, sampled_entry));
    findings_.expect(unsampled_.set_baggage(unsampled_baggage), "the baggage is invalid");
    expect_answer(
        with_context(unsampled_, [this] { return self_->request(ledger_, time_limit, unsampled_entry, witness_); })(),
        answer_of(1, unsampled_entry));
  }

  void names() {
    const std::string another = another_ledger, none = no_ledger;
    expect_answer(self_->request(ledger_, time_limit, another), another);
    expect(eventually([this] { return found_ == 3; }), "the other ledger is not found");
    expect_answer(self_->request(ledger_, time_limit, moved_entry), answer_of(2, moved_entry));
    self_->request(ledger_, time_limit, refused_entry)
        .receive([](int) { throw std::runtime_error("a refused entry is answered"); },
                 [](const caf::error& error) {
                   expect(to_node_error(error).code() == node_errc::outcome_unknown, text_of(error));
                 });
    expect_answer(self_->request(ledger_, time_limit, none), none);
    expect(eventually([this] { return lost_ == 2; }), "the withdrawn ledger is not lost");
    findings_.expect(found_ == 3, "a ledger is found that was withdrawn");
  }

  findings findings_;
  std::atomic<int> found_{0}, lost_{0}, told_{0}, asked_{0};
  trace_context unsampled_ = trace_context::begin(false);
  lasting_node node_;
  caf::scoped_actor self_;
  caf::actor ledger_;
  caf::actor witness_;
};

} // namespace

std::vector<std::string> talk_by_a_lasting_handle(const std::string& family, const std::string& address,
                                                  const conversation_events& events) {
  lasting_dialer_cast dialer{family, address};
  dialer.talk(events);
  events.before_close();
  dialer.close();
  return dialer.problems();
}

} // namespace troupe::tests::compat
