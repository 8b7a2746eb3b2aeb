#include "bench/load/load_document.hpp"

#include "bench/machine_document.hpp"

#include "harness/report.hpp"

#include <troupe/base/sizes.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace troupe::tools {

namespace {

using json = nlohmann::ordered_json;

[[nodiscard]] json percentiles_in_us(const histogram& of) {
  json made;
  for (const auto& [name, percent] : load_percentiles)
    made[name] = static_cast<double>(of.percentile(percent)) / 1e3;
  made["mean"] = of.mean() / 1e3;
  return made;
}

[[nodiscard]] json document_of(const histogram& values) {
  auto buckets = json::array();
  for (std::size_t bucket = 0; bucket <= values.scale().bucket_of(values.max()); ++bucket)
    if (const auto count = values.count_in(bucket); count > 0)
      buckets.push_back({values.scale().lowest_in(bucket), count});
  return {{"unit", "ns"},
          {"bits", load_round::precision_bits},
          {"min", values.min()},
          {"max", values.max()},
          {"buckets", std::move(buckets)}};
}

/// Throws if the document is another one.
[[nodiscard]] histogram histogram_of(const json& document) {
  histogram made{load_round::precision_bits};
  if (document.at("bits").get<unsigned>() != load_round::precision_bits)
    throw std::invalid_argument{fmt::format("its histograms do not have {} bits", load_round::precision_bits)};
  const auto min = document.at("min").get<std::uint64_t>();
  const auto max = document.at("max").get<std::uint64_t>();
  for (const auto& each : document.at("buckets")) {
    const auto lowest = each.at(0).get<std::uint64_t>();
    auto count = each.at(1).get<std::uint64_t>();
    const auto bucket = made.scale().bucket_of(lowest);
    // The least and the greatest value are exact.
    if (count > 0 && bucket == made.scale().bucket_of(min)) {
      made.add(min);
      --count;
    }
    if (count > 0 && bucket == made.scale().bucket_of(max)) {
      made.add(max);
      --count;
    }
    made.add(std::clamp(made.scale().lowest_in(bucket), min, std::max(min, max)), count);
  }
  return made;
}

[[nodiscard]] json document_of(const load_round& one) {
  json made{{"seconds", one.seconds},
            {"scheduled", one.scheduled},
            {"sent", one.sent},
            {"answered", one.answered},
            {"held", one.held},
            {"outstanding_most", one.outstanding_most},
            {"failures", json::object()},
            {"offered_per_second", one.offered_per_second},
            {"sent_per_second", one.sent_per_second},
            {"achieved_per_second", one.achieved_per_second}};
  for (const auto& [why, some] : one.failures)
    made["failures"][why] = {
        {"count", some.count}, {"first_seconds", some.first_seconds}, {"last_seconds", some.last_seconds}};
  if (one.latency.count() > 0)
    made["latency_us"] = percentiles_in_us(one.latency);
  made["lateness_us"] = percentiles_in_us(one.lateness);
  made["latency_histogram"] = document_of(one.latency);
  made["lateness_histogram"] = document_of(one.lateness);
  return made;
}

[[nodiscard]] load_round round_of(const json& document) {
  load_round made;
  document.at("seconds").get_to(made.seconds);
  document.at("scheduled").get_to(made.scheduled);
  document.at("sent").get_to(made.sent);
  document.at("answered").get_to(made.answered);
  document.at("held").get_to(made.held);
  document.at("outstanding_most").get_to(made.outstanding_most);
  for (const auto& [why, some] : document.at("failures").items())
    made.failures[why] = {some.at("count").get<std::uint64_t>(), some.at("first_seconds").get<double>(),
                          some.at("last_seconds").get<double>()};
  document.at("offered_per_second").get_to(made.offered_per_second);
  document.at("sent_per_second").get_to(made.sent_per_second);
  document.at("achieved_per_second").get_to(made.achieved_per_second);
  made.latency = histogram_of(document.at("latency_histogram"));
  made.lateness = histogram_of(document.at("lateness_histogram"));
  return made;
}

[[nodiscard]] json document_of(const load_setup& what) {
  json made{{"pattern", what.pattern},
            {"to", what.addresses},
            {"connections", what.connections},
            {"family", what.family},
            {"compression", what.compression},
            {"data", what.data},
            {"arrivals", what.arrivals},
            {"rate", what.rate},
            {"seconds", what.seconds},
            {"warm_up_seconds", what.warm_up_seconds},
            {"outstanding_most", what.outstanding_most},
            {"seed", what.seed},
            {"sizes", json::array()}};
  for (const auto& [bytes, weight] : what.sizes)
    made["sizes"].push_back({{"bytes", bytes}, {"weight", weight}});
  return made;
}

[[nodiscard]] load_setup setup_of(const json& document) {
  load_setup made;
  document.at("pattern").get_to(made.pattern);
  document.at("to").get_to(made.addresses);
  document.at("connections").get_to(made.connections);
  document.at("family").get_to(made.family);
  document.at("compression").get_to(made.compression);
  document.at("data").get_to(made.data);
  document.at("arrivals").get_to(made.arrivals);
  document.at("rate").get_to(made.rate);
  document.at("seconds").get_to(made.seconds);
  document.at("warm_up_seconds").get_to(made.warm_up_seconds);
  document.at("outstanding_most").get_to(made.outstanding_most);
  document.at("seed").get_to(made.seed);
  for (const auto& each : document.at("sizes"))
    made.sizes.push_back({each.at("bytes").get<std::size_t>(), each.at("weight").get<double>()});
  if (made.sizes.empty())
    throw std::invalid_argument{"it has no sizes"};
  return made;
}

[[nodiscard]] json document_of(const found_knee& knee) {
  const auto number = [](std::optional<double> rate) { return rate ? json(*rate) : json(nullptr); };
  json made{{"limit_ms", knee.limit_ms},
            {"last_good", number(knee.last_good)},
            {"first_bad", number(knee.first_bad)},
            {"tried", json::array()}};
  for (const auto& each : knee.tried) {
    json one{{"rate", each.rate}, {"sustained", each.is_sustained}};
    if (!each.is_sustained)
      one["why_not"] = each.why_not;
    one.update(document_of(each.figures));
    made["tried"].push_back(std::move(one));
  }
  return made;
}

[[nodiscard]] std::string sizes_text(const load_setup& what) {
  return size_mix{what.sizes}.text();
}

/// What two sources must have in common. Empty if they do.
[[nodiscard]] std::string difference_between(const load_document& one, const load_document& other) {
  const auto& a = one.what;
  const auto& b = other.what;
  return a.pattern != b.pattern                     ? "pattern"
         : a.family != b.family                     ? "family"
         : a.compression != b.compression           ? "compression"
         : a.data != b.data                         ? "data"
         : a.sizes != b.sizes                       ? "sizes"
         : a.arrivals != b.arrivals                 ? "arrivals"
         : a.seconds != b.seconds                   ? "seconds"
         : one.rounds.size() != other.rounds.size() ? "number of rounds"
                                                    : "";
}

} // namespace

load_setup setup_of(const source_options& options) {
  const auto& plan = options.plan;
  return {.pattern = plan.is_answered ? "echo" : "one-way",
          .addresses = options.addresses,
          .connections = options.connections * options.addresses.size(),
          .family = options.family,
          .compression = options.access.compression,
          .data = options.data,
          .arrivals = plan.how == arrivals::poisson ? "poisson" : "uniform",
          .rate = plan.rate,
          .seconds = std::chrono::duration<double>(plan.measured).count(),
          .warm_up_seconds = std::chrono::duration<double>(plan.warm_up).count(),
          .outstanding_most = plan.outstanding_most,
          .seed = plan.seed,
          .sizes = plan.sizes.all()};
}

std::string label_of(const load_setup& what) {
  return fmt::format("{} {}{} {}, {}/s {}, {}", what.pattern, what.family,
                     what.compression == "none" ? "" : " " + what.compression, sizes_text(what),
                     bench::short_number(what.rate), what.arrivals,
                     what.connections == 1 ? "1 connection" : fmt::format("{} connections", what.connections));
}

std::string json_of(const load_document& document) {
  json made{{"kind", "load"}, {"machines", json::array()}, {"began_ms", document.began_ms}};
  for (const auto& each : document.machines)
    made["machines"].push_back(document_of(each));
  made["load"] = document_of(document.what);
  made["rounds"] = json::array();
  for (const auto& each : document.rounds)
    made["rounds"].push_back(document_of(each));
  if (document.knee)
    made["knee"] = document_of(*document.knee);
  return made.dump(1, ' ', false, json::error_handler_t::replace) + '\n';
}

std::expected<load_document, std::string> read_load_document(std::string_view text, const std::string& file) {
  try {
    const auto read = json::parse(text);
    if (!read.is_object() || read.value("kind", "") != "load")
      return std::unexpected{file + " is no document of troupe bench --to"};
    if (read.contains("knee"))
      return std::unexpected{file + " is the result of a search, which offered a different rate in each round"};
    load_document made;
    for (const auto& each : read.at("machines"))
      made.machines.push_back(machine_of(each));
    read.at("began_ms").get_to(made.began_ms);
    made.what = setup_of(read.at("load"));
    for (const auto& each : read.at("rounds"))
      made.rounds.push_back(round_of(each));
    return made;
  } catch (const std::exception& wrong) {
    return std::unexpected{fmt::format("{} cannot be read: {}", file, wrong.what())};
  }
}

std::expected<void, std::string> merge(load_document& to, const load_document& other) {
  if (const auto what = difference_between(to, other); !what.empty())
    return std::unexpected{fmt::format("they have not measured the same: the {} differ{}", what,
                                       what == "sizes" || what == "arrivals" || what == "seconds" ? "" : "s")};
  to.machines.insert(to.machines.end(), other.machines.begin(), other.machines.end());
  for (const auto& each : other.what.addresses)
    if (std::ranges::find(to.what.addresses, each) == to.what.addresses.end())
      to.what.addresses.push_back(each);
  to.what.connections += other.what.connections;
  to.what.rate += other.what.rate;
  to.what.outstanding_most += other.what.outstanding_most;
  for (std::size_t i = 0; i < to.rounds.size(); ++i)
    add_parallel(to.rounds[i], other.rounds[i]);
  return {};
}

} // namespace troupe::tools
