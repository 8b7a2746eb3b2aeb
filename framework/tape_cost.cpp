#include <troupe/framework/tape_cost.hpp>

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/tape/cost_advice.hpp>
#include <troupe/framework/internal/tape/cost_meter.hpp>
#include <troupe/framework/internal/tape/link_words.hpp>
#include <troupe/framework/internal/words/failing.hpp>
#include <troupe/serializers/family.hpp>

namespace troupe {

namespace {

constexpr std::size_t rows_max = 4096;
// 1 Gbit/s, and what a socket within a host passes at least.
constexpr std::uint64_t network_rate = 125'000'000;
constexpr std::uint64_t host_rate = 2'000'000'000;

compression compression_of(const tape_element& of) {
  const auto fields = parse_header(of.content.header.bytes(), internal::taped_header_limits());
  if (!fields || fields->frame_codecs.empty())
    return compression::none;
  const auto is_zstd = std::ranges::find(fields->frame_codecs, std::byte{2}) != fields->frame_codecs.end()
                       && fields->frame_codecs.front() != std::byte{1};
  return is_zstd ? compression::zstd : compression::lz4;
}

/// Collects the costs of a tape's messages.
class cost_collector {
public:
  cost_collector(const type_registry& types, const family_set& families, const tape_cost_options& options)
      : options_(options), types_(types), families_(families) {}

  /// Takes all events of the file that is open.
  void take(tape& from) {
    while (auto event = from.next()) {
      if (const auto* link = std::get_if<tape_link>(&*event))
        links_.insert_or_assign(link->number, *link);
      else if (const auto* message = std::get_if<tape_message>(&*event))
        take(*message);
      else if (std::holds_alternative<tape_damage>(*event))
        ++report_.damages;
    }
  }

  tape_cost_report finish() {
    for (auto& [key, row] : rows_)
      report_.rows.push_back(std::move(row));
    advise();
    return std::move(report_);
  }

private:
  using row_key = std::tuple<std::uint64_t, tape_side, std::string>;

  void take(const tape_message& message) {
    if (message.value_bytes)
      ++report_.left_out["passed as values within the process"];
    if (!message.missing.empty())
      ++report_.left_out[message.missing];
    for (const auto& each : message.elements)
      if (each.missing.empty())
        take(message, each);
      else
        ++report_.left_out[each.missing];
  }

  void take(const tape_message& message, const tape_element& element) {
    const row_key key{message.link, message.writer, element.type};
    auto found = rows_.find(key);
    if (found == rows_.end()) {
      if (rows_.size() >= rows_max) {
        ++report_.left_out["more than " + grouped(rows_max) + " types of links"];
        return;
      }
      found = rows_
                  .emplace(key, tape_cost_row{.link = message.link,
                                              .writer = message.writer,
                                              .type = element.type,
                                              .family = element.family})
                  .first;
    }
    auto& row = found->second;
    const auto bytes = element.content.size_bytes();
    if (row.compressed_by == compression::none)
      row.compressed_by = compression_of(element);
    ++row.payloads;
    row.bytes += bytes;
    auto& measured_bytes = measured_bytes_[key];
    if (row.measured >= options_.payloads_most || measured_bytes >= options_.payload_bytes_most
        || element.family != row.family)
      return;
    measured_bytes += bytes;
    meter(element.family).measure(element, row);
  }

  /// The meter for rows of that recorded family, which is always among those that it compares.
  const internal::cost_meter& meter(const std::string& recorded) {
    auto& known = meters_[recorded];
    if (!known) {
      auto names = options_.families.empty() ? families_.names() : options_.families;
      if (std::ranges::find(names, recorded) == names.end())
        names.push_back(recorded);
      known = std::make_unique<internal::cost_meter>(types_, families_, std::move(names), options_.compressions);
    }
    return *known;
  }

  void advise() {
    for (const auto& [number, link] : links_)
      for (const auto side : {tape_side::recorder, tape_side::peer}) {
        std::vector<const tape_cost_row*> of_link;
        for (const auto& each : report_.rows)
          if (each.link == number && each.writer == side)
            of_link.push_back(&each);
        if (of_link.empty())
          continue;
        const auto is_network = link.transport == "tcp" || link.transport == "tls";
        const auto rate = options_.bytes_per_second != 0 ? options_.bytes_per_second
                          : is_network                   ? network_rate
                                                         : host_rate;
        if (auto advice = internal::advice_for(link, side, of_link, rate); !advice.configuration.empty())
          report_.advice.push_back(std::move(advice));
      }
  }

  const tape_cost_options& options_;
  const type_registry& types_;
  const family_set& families_;
  std::map<std::string, std::unique_ptr<internal::cost_meter>> meters_;
  std::map<std::uint64_t, tape_link> links_;
  std::map<row_key, tape_cost_row> rows_;
  std::map<row_key, std::uint64_t> measured_bytes_;
  tape_cost_report report_;
};

} // namespace

std::expected<tape_cost_report, node_error> tape_cost(tape& from, const type_registry& types,
                                                      const family_set& families, const tape_cost_options& options) {
  if (options.compressions.empty())
    return internal::bad_option("compressions is empty; name at least one, such as none");
  cost_collector costs{types, families, options};
  costs.take(from);
  for (const auto& file : options.next_files) {
    if (auto next = from.go_on(file); !next)
      return std::unexpected{std::move(next).error()};
    costs.take(from);
  }
  return costs.finish();
}

} // namespace troupe
