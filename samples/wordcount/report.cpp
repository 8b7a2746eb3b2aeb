#include "report.hpp"

#include "folder_walk.hpp"

#include <troupe/base/sizes.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

namespace wordcount {

namespace {

using troupe::grouped;

/// In MB of 10^6 bytes, or in kB or B if smaller.
std::string size_text(std::uint64_t bytes) {
  if (bytes < 10'000)
    return fmt::format("{} B", bytes);
  const auto size = static_cast<double>(bytes);
  return bytes < 1'000'000 ? fmt::format("{:.1f} kB", size / 1e3) : fmt::format("{:.1f} MB", size / 1e6);
}

/// The word, shortened to fit a line.
std::string shown(std::string_view word) {
  constexpr std::size_t shown_bytes = 60;
  if (word.size() <= shown_bytes)
    return std::string{word};
  return fmt::format("{}... ({} bytes)", word.substr(0, shown_bytes), grouped(word.size()));
}

std::string of_both_ways(const std::string& sent, const std::string& received) {
  return sent + " / " + received;
}

std::string list(const std::vector<std::string>& families) {
  return families.empty() ? "-" : fmt::format("{}", fmt::join(families, ","));
}

/// Requires: all rows have the same number of cells. Each column is as wide as its widest cell.
std::string table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i)
      line += fmt::format("{:<{}}  ", row[i], widths[i]);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

std::vector<std::string> cells_of(const link_row& link, transport over) {
  const auto& stats = link.stats;
  return {link.peer,
          to_string(over),
          of_both_ways(list(link.sends_with), list(link.answers_with)),
          of_both_ways(grouped(stats.messages_sent), grouped(stats.messages_received)),
          of_both_ways(size_text(stats.socket_bytes_sent), size_text(stats.socket_bytes_received)),
          of_both_ways(size_text(stats.handle_bytes_sent), size_text(stats.handle_bytes_received)),
          grouped(link.blocks),
          link.lost.empty() ? "" : "lost: " + link.lost};
}

} // namespace

std::string report(const job_result& result, const options& with, const store_usage& store) {
  std::string text;
  for (const auto* entry : result.totals.most_frequent(with.top))
    text += fmt::format("{:>12}  {}\n", grouped(entry->count), shown(entry->word()));
  if (!text.empty())
    text = fmt::format("most frequent words below {}:\n{}\n", printable(with.folder), text);

  const auto& [unreadable, vanished, changed, starved] = result.problems;
  const auto megabytes = static_cast<double>(result.read.bytes) / 1e6;
  text += fmt::format("files:    {} ({} unreadable, {} vanished, {} changed while read)\n", grouped(result.read.files),
                      grouped(unreadable), grouped(vanished), grouped(changed));
  text += fmt::format("bytes:    {} in {} blocks\n", grouped(result.read.bytes), grouped(result.blocks));
  text += fmt::format("words:    {}, {} distinct\n", grouped(result.totals.words()),
                      grouped(result.totals.distinct().size()));
  text += fmt::format("time:     {:.2f} s, {:.0f} MB/s\n\n", result.time.count(), megabytes / result.time.count());

  std::vector<std::vector<std::string>> rows{
      {"link to", "over", "families", "messages", "through the socket", "by handle", "blocks counted", ""}};
  std::ranges::transform(result.links, std::back_inserter(rows),
                         [&](const auto& link) { return cells_of(link, with.over); });
  text += "links (what the coordinator sent / received):\n" + table(rows);
  text += fmt::format("\nstore {}: at most {} in use, {} objects left\n", store.name, size_text(store.high_water_bytes),
                      grouped(store.objects_left));
  return text;
}

} // namespace wordcount
