#include <troupe/framework/gateway/internal/view/view_document.hpp>

#include <algorithm>
#include <initializer_list>
#include <span>
#include <utility>

#include <troupe/base/text.hpp>
#include <troupe/framework/gateway/internal/view/order_text.hpp>
#include <troupe/serializers/serialize.hpp>

namespace troupe::web {

namespace {

constexpr std::size_t text_bytes_max = 500;
constexpr std::size_t list_max = 100;

// The documents. Their fields have the names of `troupe links --json`.

struct shown_latency {
  std::string kind;
  std::uint64_t count = 0;
  std::int64_t sum_ns = 0;
  std::int64_t p50_ns = 0;
  std::int64_t p90_ns = 0;
  std::int64_t p99_ns = 0;
  std::int64_t max_ns = 0;
  std::vector<std::pair<std::int64_t, std::uint64_t>> buckets; // Of details only: the end in ns, and the count.
};
TROUPE_DESCRIBE(shown_latency, kind, count, sum_ns, p50_ns, p90_ns, p99_ns, max_ns, buckets)

struct shown_share {
  std::string family;
  std::string type; // Of details only.
  std::uint64_t payloads_sent = 0;
  std::uint64_t bytes_sent = 0;
  std::int64_t time_sent_ns = 0;
  std::uint64_t payloads_received = 0;
  std::uint64_t bytes_received = 0;
  std::int64_t time_received_ns = 0;
};
TROUPE_DESCRIBE(shown_share, family, type, payloads_sent, bytes_sent, time_sent_ns, payloads_received, bytes_received,
                time_received_ns)

struct shown_stats {
  std::uint64_t messages_sent = 0;
  std::uint64_t messages_received = 0;
  std::uint64_t socket_bytes_sent = 0;
  std::uint64_t socket_bytes_received = 0;
  std::uint64_t handle_bytes_sent = 0;
  std::uint64_t handle_bytes_received = 0;
  std::uint64_t pulled_bytes_sent = 0;
  std::uint64_t pulled_bytes_received = 0;
  std::uint64_t spilled_bytes = 0;
  std::uint64_t unserializable = 0;
  std::uint64_t refused_by_policy = 0;
  std::uint64_t undecodable = 0;
  std::uint64_t undelivered = 0;
  std::uint64_t store_fallbacks = 0;
  std::uint64_t refused_at_bound = 0;
  std::uint64_t dropped = 0;
  std::uint64_t expired = 0;
  std::uint64_t forwarded = 0;
  std::uint64_t unconsumed_bytes_there = 0;
  std::uint64_t unconsumed_bytes_here = 0;
  std::uint64_t waiting_bytes = 0;
  std::uint64_t unconsumed_handle_bytes_there = 0;
  std::uint64_t unconsumed_handle_bytes_here = 0;
  std::uint64_t waiting_handle_bytes = 0;
  std::uint64_t unread_bytes = 0;
  std::uint64_t large_frame_bytes_here = 0;
  std::uint64_t window_bytes = 0;
  std::uint64_t credit_bytes = 0;
  std::uint64_t actors_exported = 0;
  std::uint64_t actors_imported = 0;
};
TROUPE_DESCRIBE(shown_stats, messages_sent, messages_received, socket_bytes_sent, socket_bytes_received,
                handle_bytes_sent, handle_bytes_received, pulled_bytes_sent, pulled_bytes_received, spilled_bytes,
                unserializable, refused_by_policy, undecodable, undelivered, store_fallbacks, refused_at_bound, dropped,
                expired, forwarded, unconsumed_bytes_there, unconsumed_bytes_here, waiting_bytes,
                unconsumed_handle_bytes_there, unconsumed_handle_bytes_here, waiting_handle_bytes, unread_bytes,
                large_frame_bytes_here, window_bytes, credit_bytes, actors_exported, actors_imported)

struct shown_link {
  std::uint64_t number = 0;
  std::string link_id;
  std::string peer;
  std::string address;
  std::string role;
  std::string transport;
  bool dialed = false;
  bool shares_store = false;
  std::int64_t age_ms = 0;
  std::string version; // Of the peer, as its features.
  std::vector<link_feature> features;
  std::vector<std::string> serializers;
  std::vector<std::string> deserializers;
  std::string compression;
  shown_stats stats;
  std::vector<shown_share> families; // Sums over types; of details: a row for each family and type.
  std::vector<shown_latency> latencies;
};
TROUPE_DESCRIBE(shown_link, number, link_id, peer, address, role, transport, dialed, shares_store, age_ms, version,
                features, serializers, deserializers, compression, stats, families, latencies)

struct shown_node {
  std::string key;
  std::string address;
  viewed_state state = viewed_state::open;
  std::int64_t state_ms = 0;
  std::string problem;
  std::int64_t report_age_ms = 0;
  std::string name;
  std::string version;
  std::uint32_t process = 0;
  std::int64_t age_ms = 0;
  std::vector<std::string> addresses;
  std::vector<std::string> families;
  std::uint64_t names_published = 0;
  std::uint64_t links_opened = 0;
  std::uint64_t peers_refused = 0;
  shown_stats totals;
  std::vector<shown_link> links;
  std::uint64_t links_left_off = 0;
  store_report store;
};
TROUPE_DESCRIBE(shown_node, key, address, state, state_ms, problem, report_age_ms, name, version, process, age_ms,
                addresses, families, names_published, links_opened, peers_refused, totals, links, links_left_off, store)

struct shown_state {
  std::uint32_t format = 1;
  std::string run;
  std::int64_t at_ms = 0;
  bool takes_orders = false;
  std::vector<shown_node> nodes;
  std::optional<viewed_cluster> cluster;
  std::vector<std::string> problems;
};
TROUPE_DESCRIBE(shown_state, format, run, at_ms, takes_orders, nodes, cluster, problems)

struct shown_memory {
  std::uint32_t format = 1;
  std::int64_t at_ms = 0;
  memory_summary summary;
  std::vector<memory_hint> hints;
};
TROUPE_DESCRIBE(shown_memory, format, at_ms, summary, hints)

struct shown_activity {
  std::string key;
  std::string problem;
  std::string name;
  std::uint32_t process = 0;
  std::vector<actor_activity> actors;
  std::uint64_t actors_omitted = 0;
  std::vector<supervisor_activity> supervisors;
  std::uint64_t supervisors_omitted = 0;
  std::vector<letter_activity> letters;
  std::uint64_t letters_lost = 0;
  std::vector<span_activity> spans;
  std::uint64_t spans_lost = 0;
  std::vector<lost_link> lost_links;
};
TROUPE_DESCRIBE(shown_activity, key, problem, name, process, actors, actors_omitted, supervisors, supervisors_omitted,
                letters, letters_lost, spans, spans_lost, lost_links)

struct shown_activities {
  std::uint32_t format = 1;
  std::int64_t at_ms = 0;
  std::vector<shown_activity> nodes;
};
TROUPE_DESCRIBE(shown_activities, format, at_ms, nodes)

/// Links at which a command such as `troupe links`, or another view, asks.
bool is_of_command(std::string_view peer) {
  return peer.starts_with("troupe command ");
}

std::string shown(std::string_view text) {
  return one_line(text, text_bytes_max);
}

void clean(std::initializer_list<std::string*> texts) {
  for (auto* const text : texts)
    *text = shown(*text);
}

std::vector<std::string> shown(const std::vector<std::string>& texts) {
  std::vector<std::string> made;
  for (std::size_t i = 0; i < std::min(texts.size(), list_max); ++i)
    made.push_back(shown(texts[i]));
  return made;
}

std::vector<link_feature> shown(const std::vector<link_feature>& of) {
  std::vector<link_feature> made;
  for (std::size_t i = 0; i < std::min(of.size(), list_max); ++i) {
    made.push_back(of[i]);
    made.back().name = shown(of[i].name);
  }
  return made;
}

shown_latency document_of(std::string_view kind, const latency_stats& of, bool with_buckets) {
  shown_latency made{.kind = std::string(kind),
                     .count = of.count,
                     .sum_ns = of.sum.count(),
                     .p50_ns = of.p50.count(),
                     .p90_ns = of.p90.count(),
                     .p99_ns = of.p99.count(),
                     .max_ns = of.max.count(),
                     .buckets = {}};
  if (with_buckets)
    for (const auto& each : of.buckets)
      made.buckets.emplace_back(each.up_to.count(), each.count);
  return made;
}

shown_stats document_of(const link_stats& of) {
  return {.messages_sent = of.messages_sent,
          .messages_received = of.messages_received,
          .socket_bytes_sent = of.socket_bytes_sent,
          .socket_bytes_received = of.socket_bytes_received,
          .handle_bytes_sent = of.handle_bytes_sent,
          .handle_bytes_received = of.handle_bytes_received,
          .pulled_bytes_sent = of.pulled_bytes_sent,
          .pulled_bytes_received = of.pulled_bytes_received,
          .spilled_bytes = of.spilled_bytes,
          .unserializable = of.unserializable,
          .refused_by_policy = of.refused_by_policy,
          .undecodable = of.undecodable,
          .undelivered = of.undelivered,
          .store_fallbacks = of.store_fallbacks,
          .refused_at_bound = of.refused_at_bound,
          .dropped = of.dropped,
          .expired = of.expired,
          .forwarded = of.forwarded,
          .unconsumed_bytes_there = of.unconsumed_bytes_there,
          .unconsumed_bytes_here = of.unconsumed_bytes_here,
          .waiting_bytes = of.waiting_bytes,
          .unconsumed_handle_bytes_there = of.unconsumed_handle_bytes_there,
          .unconsumed_handle_bytes_here = of.unconsumed_handle_bytes_here,
          .waiting_handle_bytes = of.waiting_handle_bytes,
          .unread_bytes = of.unread_bytes,
          .large_frame_bytes_here = of.large_frame_bytes_here,
          .window_bytes = of.window_bytes,
          .credit_bytes = of.credit_bytes,
          .actors_exported = of.actors_exported,
          .actors_imported = of.actors_imported};
}

void add(shown_share& to, const type_stats& of) {
  to.payloads_sent += of.sent.payloads;
  to.bytes_sent += of.sent.bytes;
  to.time_sent_ns += of.sent.time.count();
  to.payloads_received += of.received.payloads;
  to.bytes_received += of.received.bytes;
  to.time_received_ns += of.received.time.count();
}

std::vector<shown_share> shares_of(const std::vector<type_stats>& rows, bool with_types) {
  std::vector<shown_share> made; // The rows are sorted by family.
  for (const auto& each : rows) {
    if (made.empty() || with_types || made.back().family != each.family)
      made.push_back({.family = shown(each.family), .type = with_types ? shown(each.type) : std::string()});
    add(made.back(), each);
  }
  return made;
}

shown_link document_of(const link_report& of, bool with_details) {
  shown_link made{.number = of.number,
                  .link_id = shown(of.link_id),
                  .peer = shown(of.peer),
                  .address = shown(of.address),
                  .role = shown(of.role),
                  .transport = shown(of.transport),
                  .dialed = of.is_dialed,
                  .shares_store = of.shares_store,
                  .age_ms = of.age_ms,
                  .version = shown(of.version.troupe),
                  .features = shown(of.features),
                  .serializers = shown(of.serializers),
                  .deserializers = shown(of.deserializers),
                  .compression = shown(of.compression),
                  .stats = document_of(of.stats),
                  .families = shares_of(of.stats.by_type, with_details),
                  .latencies = {}};
  for (const auto& [name, kind] : latency_kinds)
    if ((of.stats.latencies.*kind).count > 0)
      made.latencies.push_back(document_of(name, of.stats.latencies.*kind, with_details));
  return made;
}

shown_node document_of(const viewed_node& of, std::size_t& links_left) {
  const auto& report = of.report;
  shown_node made{.key = of.key,
                  .address = shown(of.address),
                  .state = of.state,
                  .state_ms = of.state_ms,
                  .problem = shown(of.problem),
                  .report_age_ms = of.report_age_ms,
                  .name = shown(report.name),
                  .version = shown(report.version),
                  .process = report.process,
                  .age_ms = report.age_ms,
                  .addresses = shown(report.addresses),
                  .families = shown(report.families),
                  .names_published = report.names_published,
                  .links_opened = report.links_opened,
                  .peers_refused = report.peers_refused,
                  .totals = document_of(report.totals),
                  .links = {},
                  .store = report.store};
  made.store.name = shown(made.store.name);
  for (const auto& each : report.links) {
    if (!each.is_dialed && is_of_command(each.peer))
      continue;
    if (links_left == 0) {
      ++made.links_left_off;
      continue;
    }
    --links_left;
    made.links.push_back(document_of(each, false));
  }
  return made;
}

viewed_cluster document_of(viewed_cluster of) {
  of.directory = shown(of.directory);
  of.problem = shown(of.problem);
  of.faults = shown(of.faults);
  for (auto& each : of.members) {
    clean({&each.name, &each.state, &each.host, &each.problem});
    for (auto* const list : {&each.addresses, &each.names, &each.singletons, &each.entities})
      *list = shown(*list);
  }
  return of;
}

memory_object document_of(memory_object of) {
  clean({&of.object, &of.store, &of.state, &of.call_site});
  if (of.holders.size() > view_document::holders_max)
    of.holders.resize(view_document::holders_max);
  for (auto& each : of.holders)
    clean({&each.peer, &each.object, &each.where});
  return of;
}

supervisor_activity document_of(supervisor_activity of) {
  clean({&of.name, &of.strategy});
  for (auto& child : of.children)
    clean({&child.name, &child.kind, &child.state, &child.reason});
  return of;
}

shown_activity document_of(const viewed_activity& of) {
  const auto& now = of.now;
  shown_activity made{.key = of.key,
                      .problem = shown(of.problem),
                      .name = shown(now.name),
                      .process = now.process,
                      .actors = now.actors,
                      .actors_omitted = now.actors_omitted,
                      .supervisors = {},
                      .supervisors_omitted = now.supervisors_omitted,
                      .letters = now.letters,
                      .letters_lost = now.letters_lost,
                      .spans = now.spans,
                      .spans_lost = now.spans_lost,
                      .lost_links = {}};
  for (const auto& each : now.lost_links)
    if (!is_of_command(each.peer))
      made.lost_links.push_back(each);
  for (auto& each : made.actors)
    clean({&each.name, &each.kind});
  for (const auto& each : now.supervisors)
    made.supervisors.push_back(document_of(each));
  for (auto& each : made.letters) {
    clean({&each.peer, &each.reason, &each.text});
    each.types = shown(each.types);
  }
  for (auto& each : made.spans)
    clean({&each.trace, &each.id, &each.parent, &each.kind, &each.name, &each.types, &each.peer, &each.family,
           &each.error});
  for (auto& each : made.lost_links)
    clean({&each.peer, &each.address, &each.reason, &each.text});
  return made;
}

} // namespace

view_document::view_document() {
  types_.add<shown_state>("troupe.view.state");
  types_.add<shown_link>("troupe.view.link");
  types_.add<shown_memory>("troupe.view.memory");
  types_.add<shown_activities>("troupe.view.activity");
  types_.add<view_order>("troupe.view.order");
}

template <class T>
std::string view_document::text_of(const T& value) const {
  const auto encoded = serialize(value, {.serializers = {"json"}}, types_, families_);
  if (!encoded) // The types are known and described, and their texts are short.
    return {};
  const auto bytes = encoded->frames.front().bytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string view_document::state(const view_snapshot& of, bool takes_orders, std::int64_t unix_ms,
                                 std::string_view run) const {
  shown_state made{.run = std::string(run),
                   .at_ms = unix_ms,
                   .takes_orders = takes_orders,
                   .nodes = {},
                   .problems = shown(of.problems)};
  auto links_left = links_max;
  for (const auto& each : of.nodes)
    made.nodes.push_back(document_of(each, links_left));
  if (of.cluster)
    made.cluster = document_of(*of.cluster);
  return text_of(made);
}

std::string view_document::link(const view_snapshot& in, std::string_view node, std::uint64_t number) const {
  const auto found = std::ranges::find(in.nodes, node, &viewed_node::key);
  if (found == in.nodes.end())
    return {};
  const auto one = std::ranges::find(found->report.links, number, &link_report::number);
  return one == found->report.links.end() ? std::string() : text_of(document_of(*one, true));
}

std::string view_document::memory(const memory_summary& of, std::int64_t unix_ms) const {
  shown_memory made{.at_ms = unix_ms, .summary = {}, .hints = leak_hints(of)};
  made.summary.objects_left_off = of.objects_left_off;
  made.summary.bytes_left_off = of.bytes_left_off;
  for (auto process : of.processes) {
    clean({&process.node, &process.store, &process.problem});
    made.summary.processes.push_back(std::move(process));
  }
  for (const auto& each : of.objects) { // Largest first.
    if (made.summary.objects.size() < objects_max) {
      made.summary.objects.push_back(document_of(each));
      continue;
    }
    ++made.summary.objects_left_off;
    made.summary.bytes_left_off += each.size_bytes;
  }
  for (auto& each : made.hints) {
    each.object = shown(each.object);
    each.text = shown(each.text);
  }
  return text_of(made);
}

std::string view_document::activity(const std::vector<viewed_activity>& of, std::int64_t unix_ms) const {
  shown_activities made{.at_ms = unix_ms, .nodes = {}};
  for (const auto& each : of)
    made.nodes.push_back(document_of(each));
  return text_of(made);
}

std::expected<view_order, std::string> view_document::order(std::string_view json) const {
  if (auto checked = check_order(json); !checked)
    return std::unexpected{std::move(checked).error()};
  const payload encoded{make_header({.family = "json", .type = "troupe.view.order"}),
                        {frame::copy_of(std::as_bytes(std::span(json)))}};
  auto read = deserialize<view_order>(encoded, {.deserializers = {"json"}}, types_, families_);
  if (!read)
    return std::unexpected{read.error().message()};
  return *std::move(read);
}

} // namespace troupe::web
