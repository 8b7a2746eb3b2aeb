// What follows from the figures: which family, which compression, and below which speed of the network.
#include <troupe/framework/bench/codec_rows.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace troupe::bench {

namespace {

using detail::codec_rows;

constexpr double bits_of_byte = 8;
constexpr double ns_of_second = 1e9;
constexpr double equal_part = 0.02; // Sizes that differ by less count as equal.

[[nodiscard]] double codec_ns(const comparison_row& row) {
  return row.encode_ns.median + row.decode_ns.median;
}

/// Whether the spreads of the codecs' times overlap.
[[nodiscard]] bool overlap(const comparison_row& one, const comparison_row& other) {
  return one.encode_ns.low + one.decode_ns.low <= other.encode_ns.high + other.decode_ns.high
         && other.encode_ns.low + other.decode_ns.low <= one.encode_ns.high + one.decode_ns.high;
}

/// Up to which speed the smaller encoding takes less time. 0: never. Infinity: always.
[[nodiscard]] double break_even_of(const comparison_row& smaller, const comparison_row& other) {
  const auto saved_bits = (other.bytes - smaller.bytes) * bits_of_byte;
  const auto more_ns = codec_ns(smaller) - codec_ns(other);
  if (saved_bits <= 0)
    return 0;
  return more_ns <= 0 ? std::numeric_limits<double>::infinity() : saved_bits * ns_of_second / more_ns;
}

/// "4.1", "360": no more digits than mean something.
[[nodiscard]] std::string ratio_text(double ratio) {
  constexpr double whole_from = 9.95;
  return ratio < whole_from ? fmt::format("{:.2g}", ratio) : fmt::format("{:.0f}", ratio);
}

/// "0.6 of its bytes", "1.3 x its bytes", "as many bytes".
[[nodiscard]] std::string bytes_against(const comparison_row& one, const comparison_row& other) {
  const auto ratio = one.bytes / std::max(other.bytes, 1.0);
  if (std::abs(ratio - 1) < equal_part)
    return "as many bytes";
  return ratio < 1 ? fmt::format("{} of its bytes", ratio_text(ratio))
                   : fmt::format("{} x its bytes", ratio_text(ratio));
}

/// "0.6 of the bytes of json", "as many bytes as json".
[[nodiscard]] std::string clause_of_bytes(const comparison_row& best, const comparison_row& other) {
  const auto ratio = best.bytes / std::max(other.bytes, 1.0);
  return std::abs(ratio - 1) < equal_part ? "as many bytes as " + other.family
                                          : fmt::format("{} of the bytes of {}", ratio_text(ratio), other.family);
}

[[nodiscard]] std::string clause_against(const comparison_row& best, const comparison_row& other) {
  auto text = overlap(best, other)
                  ? fmt::format("about as fast as {}", other.family)
                  : fmt::format("{} x faster than {}", ratio_text(codec_ns(other) / std::max(codec_ns(best), 1.0)),
                                other.family);
  text += " and " + bytes_against(best, other);
  if (const auto below = break_even_of(other, best); below > 0 && std::isfinite(below))
    text += fmt::format(" ({} takes less time below {})", other.family, detail::speed_text(below));
  return text;
}

[[nodiscard]] std::string clause_of(const break_even& one) {
  const auto name = to_string(one.compression);
  if (one.bytes_saved <= 0)
    return fmt::format("{} saves nothing", name);
  return std::isinf(one.bits_per_second)
             ? fmt::format("{} always pays", name)
             : fmt::format("{} pays below {}", name, detail::speed_text(one.bits_per_second));
}

[[nodiscard]] const comparison_row* find_codec(const std::vector<const comparison_row*>& among,
                                               const std::string& family, troupe::compression how) {
  const auto found =
      std::ranges::find_if(among, [&](const auto* row) { return row->family == family && row->compression == how; });
  return found == among.end() ? nullptr : *found;
}

[[nodiscard]] std::string why_nothing(const comparison& of) {
  for (const auto& row : of.rows)
    if (!row.is_measured())
      return fmt::format("no family was measured: {}: {}", row.family, row.failure);
  return "no family was measured: nothing is encoded within a process; compare over unix or tcp";
}

/// The rows of the families without compression, or with the first one that was measured.
[[nodiscard]] std::vector<const comparison_row*> families_of(const std::vector<const comparison_row*>& codecs) {
  const auto* first = codecs.front();
  const auto how =
      find_codec(codecs, first->family, compression::none) != nullptr ? compression::none : first->compression;
  std::vector<const comparison_row*> made;
  for (const auto* row : codecs)
    if (row->compression == how)
      made.push_back(row);
  return made;
}

} // namespace

std::vector<network_estimate> comparison::at(double bits_per_second) const {
  std::vector<network_estimate> made;
  for (const auto* row : codec_rows(*this))
    made.push_back({row->family, row->compression, row->encode_ns.median,
                    row->bytes * bits_of_byte * ns_of_second / bits_per_second, row->decode_ns.median});
  std::ranges::stable_sort(made, {}, &network_estimate::total_ns);
  return made;
}

std::vector<break_even> comparison::break_evens() const {
  const auto codecs = codec_rows(*this);
  std::vector<break_even> made;
  for (const auto* row : codecs) {
    const auto* plain = find_codec(codecs, row->family, compression::none);
    if (row->compression != compression::none && plain != nullptr)
      made.push_back({row->family, row->compression, break_even_of(*row, *plain), plain->bytes - row->bytes});
  }
  return made;
}

std::string comparison::advice() const {
  const auto codecs = codec_rows(*this);
  if (codecs.empty())
    return why_nothing(*this);
  const auto families = families_of(codecs);
  const auto by_bytes = std::ranges::any_of(families, &comparison_row::needs_program);
  const auto* best = by_bytes ? *std::ranges::min_element(families, {}, &comparison_row::bytes)
                              : *std::ranges::min_element(families, {}, [](const auto* row) { return codec_ns(*row); });
  auto text = best->family + ": ";
  std::string separator;
  const auto add = [&](const std::string& clause) {
    text += separator + clause;
    separator = "; ";
  };
  if (families.size() == 1)
    add(by_bytes ? detail::bytes_text(best->bytes)
                 : fmt::format("{} to encode and {} to decode {}", detail::time_text(best->encode_ns.median),
                               detail::time_text(best->decode_ns.median), detail::bytes_text(best->bytes)));
  for (const auto* other : families)
    if (other != best)
      add(by_bytes ? clause_of_bytes(*best, *other) : clause_against(*best, *other));
  if (best->needs_trust)
    add("it trusts its input, so use it only with peers that may run code in this process");
  for (const auto& each : break_evens())
    if (each.family == best->family)
      add(clause_of(each));
  if (by_bytes)
    add("times need the program");
  return text;
}

} // namespace troupe::bench
