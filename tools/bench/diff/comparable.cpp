#include "bench/diff/comparable.hpp"

#include "bench/load/load_document.hpp"
#include "bench/machine_document.hpp"
#include "bench/measurement.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <stdexcept>

namespace troupe::tools {

namespace {

using json = nlohmann::ordered_json;

void add_machine(comparable& to, const machine& where) {
  const auto text = fmt::format("{}, {} cores", where.cpu, where.cores);
  if (to.processors.find(text) == std::string::npos)
    to.processors += (to.processors.empty() ? "" : " and ") + text;
  to.troupe = where.version;
  to.is_optimized = to.is_optimized && is_optimized(where);
}

[[nodiscard]] std::string closed_loop_label(const json& one) {
  measurement what;
  const auto how = one.at("pattern").get<std::string>();
  if (std::ranges::find(pattern_names, how) == std::end(pattern_names))
    throw std::invalid_argument{"it has the unknown pattern " + how};
  what.how = pattern_of(how);
  one.at("transport").get_to(what.transport);
  one.at("family").get_to(what.family);
  one.at("compression").get_to(what.compression);
  one.at("size_bytes").get_to(what.size_bytes);
  return label_of(what);
}

void add_closed_loop(comparable& to, const json& document) {
  add_machine(to, machine_of(document.at("machine")));
  for (const auto& one : document.at("results")) {
    const auto label = closed_loop_label(one);
    if (one.contains("failure")) {
      to.failed.push_back(label);
      continue;
    }
    const auto add = [&](const std::string& quantity, const json& range) {
      if (!range.contains("values"))
        throw std::invalid_argument{"it has no values of single rounds; an older version has written it"};
      to.all.push_back({label, quantity, range.at("values").get<std::vector<double>>()});
    };
    add("rate", one.at("messages_per_second"));
    if (one.contains("round_trip_us"))
      for (const auto& [name, range] : one.at("round_trip_us").items())
        add(name, range);
  }
}

void add_load(comparable& to, const load_document& document) {
  for (const auto& each : document.machines)
    add_machine(to, each);
  const auto label = label_of(document.what);
  measured_values rates{label, "rate", {}};
  for (const auto& each : document.rounds)
    rates.values.push_back(each.achieved_per_second);
  to.all.push_back(std::move(rates));
  for (const auto& [name, percent] : load_percentiles) {
    measured_values times{label, name, {}};
    for (const auto& each : document.rounds)
      if (each.latency.count() > 0)
        times.values.push_back(static_cast<double>(each.latency.percentile(percent)) / 1e3);
    if (!times.values.empty())
      to.all.push_back(std::move(times));
  }
}

} // namespace

std::expected<comparable, std::string> read_comparable(std::string_view text, const std::string& file) {
  comparable made{.file = file};
  try {
    const auto read = json::parse(text);
    if (read.is_object() && read.value("kind", "") == "load") {
      const auto document = read_load_document(text, file);
      if (!document)
        return std::unexpected{document.error()};
      add_load(made, *document);
    } else if (read.is_object() && read.contains("results")) {
      add_closed_loop(made, read);
    } else {
      return std::unexpected{file + " is no document of troupe bench"};
    }
  } catch (const std::exception& wrong) {
    return std::unexpected{fmt::format("{} cannot be read: {}", file, wrong.what())};
  }
  return made;
}

} // namespace troupe::tools
