#include <troupe/framework/internal/tape/cost_advice.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/words/text.hpp>

namespace troupe::internal {

namespace {

using std::chrono::nanoseconds;

// A change has to save more than measurements differ by.
constexpr double worthwhile = 0.9;

struct cost {
  nanoseconds coding{0};
  nanoseconds on_the_way{0};
  std::uint64_t bytes = 0;

  void add(const tape_cost_figure& figure, std::uint64_t bytes_per_second) {
    coding += figure.encode + figure.decode;
    bytes += figure.bytes;
    on_the_way += nanoseconds{
        static_cast<nanoseconds::rep>(static_cast<double>(figure.bytes) * 1e9 / static_cast<double>(bytes_per_second))};
  }
  [[nodiscard]] nanoseconds all() const { return coding + on_the_way; }
};

const tape_cost_figure* figure_of(const tape_cost_row& row, const std::string& family, compression by) {
  const auto found = std::ranges::find_if(row.figures, [&](const tape_cost_figure& each) {
    return each.family == family && each.compressed_by == by && each.basis != tape_cost_basis::none
           && each.why_not.empty();
  });
  return found == row.figures.end() ? nullptr : &*found;
}

std::string seconds(nanoseconds time) {
  std::array<char, 32> text{};
  const auto size = std::snprintf(text.data(), text.size(), "%.6f s", std::chrono::duration<double>(time).count());
  return {text.data(), static_cast<std::size_t>(size)};
}

/// Text of the tape that may stand between quotes.
std::string harmless(std::string_view text) {
  auto result = one_line(text);
  for (auto& each : result)
    if (each == '"' || each == '\\')
      each = '?';
  return result;
}

std::string quoted_list(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& each : names)
    text += (text.empty() ? "[\"" : ", \"") + harmless(each) + '"';
  return text.empty() ? "[]" : text + ']';
}

std::string comment(const std::string& text) {
  return "# " + one_line(text) + '\n';
}

/// The costs of what one end has sent, by families and compressions.
class comparison {
public:
  comparison(const std::vector<const tape_cost_row*>& rows, std::uint64_t bytes_per_second) : rate_(bytes_per_second) {
    for (const auto* each : rows)
      if (const auto* recorded = figure_of(*each, each->family, each->compressed_by)) {
        rows_.emplace_back(each, recorded);
        recorded_.add(*recorded, rate_);
        payloads_ += each->measured;
        is_estimate_ = is_estimate_ || recorded->basis == tape_cost_basis::record;
      }
  }

  [[nodiscard]] bool empty() const { return rows_.empty(); }
  [[nodiscard]] const cost& recorded() const { return recorded_; }
  [[nodiscard]] std::uint64_t payloads() const { return payloads_; }
  [[nodiscard]] bool is_estimate() const { return is_estimate_; }
  /// The recorded families, that of most bytes first.
  [[nodiscard]] std::vector<std::string> recorded_families() const {
    std::vector<std::pair<std::string, std::uint64_t>> bytes;
    for (const auto& [row, figure] : rows_) {
      auto known = std::ranges::find(bytes, row->family, &std::pair<std::string, std::uint64_t>::first);
      if (known == bytes.end())
        known = bytes.insert(known, {row->family, 0});
      known->second += figure->bytes;
    }
    std::ranges::stable_sort(bytes, std::greater{}, &std::pair<std::string, std::uint64_t>::second);
    std::vector<std::string> names;
    for (const auto& [name, size] : bytes)
      names.push_back(name);
    return names;
  }

  /// If that family comes first in the list. Types that it does not carry stay with the recorded family. Nullopt if it
  /// carries none.
  [[nodiscard]] std::optional<cost> by(const std::string& family, compression compressed_by) const {
    cost sum;
    auto carries_any = false;
    for (const auto& [row, recorded] : rows_) {
      const auto* figure = figure_of(*row, family, compressed_by);
      carries_any = carries_any || figure != nullptr;
      if (figure == nullptr)
        figure = figure_of(*row, row->family, compressed_by);
      sum.add(figure != nullptr ? *figure : *recorded, rate_);
    }
    return carries_any ? std::optional{sum} : std::nullopt;
  }

  /// The families and compressions that were measured, in the order of the figures.
  [[nodiscard]] std::vector<std::pair<std::string, compression>> ways() const {
    std::vector<std::pair<std::string, compression>> all;
    for (const auto& [row, recorded] : rows_)
      for (const auto& each : row->figures)
        if (const std::pair way{each.family, each.compressed_by}; std::ranges::find(all, way) == all.end())
          all.push_back(way);
    return all;
  }

private:
  const std::uint64_t rate_;
  std::vector<std::pair<const tape_cost_row*, const tape_cost_figure*>> rows_;
  cost recorded_;
  std::uint64_t payloads_ = 0;
  bool is_estimate_ = false;
};

std::string line_of(const std::string& what, const cost& of) {
  return comment("  " + what + ": " + grouped(of.bytes) + " bytes, " + seconds(of.coding) + " to encode and decode, "
                 + seconds(of.all()) + " with the way");
}

/// The group of the end's configuration for that link.
std::string group_of(const tape_link& link, tape_side writer) {
  const auto& address = writer == tape_side::recorder ? link.peer_address : link.recorder_address;
  return address.empty() ? "accepted" : '"' + harmless(address) + '"';
}

} // namespace

tape_cost_advice advice_for(const tape_link& link, tape_side writer, const std::vector<const tape_cost_row*>& rows,
                            std::uint64_t bytes_per_second) {
  tape_cost_advice result{.link = link.number, .writer = writer};
  const comparison costs{rows, bytes_per_second};
  if (costs.empty())
    return result;
  const auto is_recorder = writer == tape_side::recorder;
  const auto& own = is_recorder ? link.recorder_name : link.peer_name;
  const auto& other = is_recorder ? link.peer_name : link.recorder_name;
  auto best = costs.recorded();
  std::optional<std::pair<std::string, compression>> way;
  std::string lines = line_of("as recorded", costs.recorded());
  for (const auto& each : costs.ways())
    if (const auto found = costs.by(each.first, each.second)) {
      lines += line_of(each.first + ", " + std::string{to_string(each.second)}, *found);
      if (found->all() < best.all()) {
        best = *found;
        way = each;
      }
    }
  result.as_recorded = costs.recorded().all();
  result.is_change =
      way && static_cast<double>(best.all().count()) < worthwhile * static_cast<double>(costs.recorded().all().count());
  result.configuration =
      comment("For \"" + own + "\", which sent to \"" + other + "\" over link " + std::to_string(link.number) + " ("
              + link.transport + ", taken as " + grouped(bytes_per_second) + " bytes per second). "
              + grouped(costs.payloads()) + " payloads were measured"
              + (costs.is_estimate() ? ", as records: the times are estimates:" : ":"))
      + lines;
  auto recorded = costs.recorded_families();
  if (!result.is_change) {
    result.advised = result.as_recorded;
    result.serializers = std::move(recorded);
    result.compressed_by = rows.front()->compressed_by;
    result.configuration += comment("Nothing would save a tenth of the time, so nothing should change.");
    return result;
  }
  result.advised = best.all();
  result.compressed_by = way->second;
  result.serializers = {way->first};
  std::ranges::copy_if(recorded, std::back_inserter(result.serializers),
                       [&](const auto& each) { return each != way->first; });
  if (std::ranges::find(recorded, way->first) == recorded.end())
    result.configuration +=
        comment("The peer has to accept " + way->first + " (deserializers), which the tape does not tell.");
  result.configuration += "troupe.links {\n  " + group_of(link, writer)
                          + " {\n    serializers = " + quoted_list(result.serializers) + "\n    compression = \""
                          + std::string{to_string(result.compressed_by)} + "\"\n  }\n}\n";
  return result;
}

} // namespace troupe::internal
