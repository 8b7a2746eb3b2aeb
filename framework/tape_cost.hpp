// What the messages of a tape would have cost by other families and compressions.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <map>
#include <string>
#include <vector>

#include <troupe/base/export.hpp>
#include <troupe/base/sizes.hpp>
#include <troupe/framework/node_errc.hpp>
#include <troupe/framework/tape.hpp>
#include <troupe/serializers/compression.hpp>
#include <troupe/serializers/serialize_calls.hpp>

namespace troupe {

/// What was encoded and decoded to get a figure.
enum class tape_cost_basis : std::uint8_t {
  none = 0,    ///< Nothing: tape_cost_figure::why_not has the reason.
  type = 1,    ///< Values of the C++ type.
  record = 2,  ///< Records with the same content, because the C++ type is not known. Bytes of `msgpack` and `json`
               ///< may differ by a few; times are estimates.
  payload = 3, ///< The payloads as they are: bytes are exact, and times are those of compressing and decompressing.
};

/// The payloads of a type by one family and one compression.
struct tape_cost_figure {
  std::string family = {};
  compression compressed_by = compression::none;
  tape_cost_basis basis = tape_cost_basis::none;
  std::uint64_t payloads = 0; ///< That were measured.
  std::uint64_t bytes = 0; ///< Of these, as on a link: a header that is always the same counts once, then 2 bytes each.
  std::chrono::nanoseconds encode{0};
  std::chrono::nanoseconds decode{0};
  std::string why_not = {}; ///< Why the first payload that failed could not be measured. Empty: all were measured.
};

/// The payloads of one type that one end of a link has sent.
struct tape_cost_row {
  std::uint64_t link = 0;
  tape_side writer = tape_side::recorder;
  std::string type = {};
  std::string family = {};                       ///< That encoded the first of them.
  compression compressed_by = compression::none; ///< Of those that were recorded compressed; `none` if none was.
  std::uint64_t payloads = 0;                    ///< On the tape.
  std::uint64_t bytes = 0;                       ///< Of all payloads on the tape, with their headers.
  std::uint64_t measured = 0;                    ///< Of the payloads: the first ones, up to the options' bounds.
  std::vector<tape_cost_figure> figures = {};    ///< For each family and compression.
};

/// What one end of a link could set in its configuration.
struct tape_cost_advice {
  std::uint64_t link = 0;
  tape_side writer = tape_side::recorder;
  bool is_change = false; ///< If false, what was recorded is the best, or costs at most a tenth more than the best.
  std::vector<std::string> serializers = {};
  compression compressed_by = compression::none;
  std::chrono::nanoseconds as_recorded{0}; ///< Of the measured payloads: encoding, decoding, and the time on the way.
  std::chrono::nanoseconds advised{0};
  /// A block for the configuration file (framework/options.md), with the numbers as comments. Only comments if nothing
  /// should change.
  std::string configuration = {};
};

struct tape_cost_options {
  /// The families to compare. Empty: all of the set, and those on the tape.
  std::vector<std::string> families = {};
  std::vector<compression> compressions = {compression::none, compression::lz4, compression::zstd};
  /// How many payloads are measured for each type, link and direction, and of how many bytes at most.
  std::uint64_t payloads_most = 1'000;
  std::uint64_t payload_bytes_most = 64_MiB;
  /// The rate at which bytes travel, for the advice. 0: 125 MB/s over TCP and TLS, and 2 GB/s within a host.
  std::uint64_t bytes_per_second = 0;
  /// The files of the same recording that follow, in their order.
  std::vector<std::string> next_files = {};
};

struct tape_cost_report {
  std::vector<tape_cost_row> rows = {};
  std::vector<tape_cost_advice> advice = {};
  /// Payloads that no row has, by reason: those that are not whole on the tape, and those beyond 4,096 rows.
  std::map<std::string, std::uint64_t> left_out = {};
  std::uint64_t damages = 0; ///< Parts of the tape that cannot be read.
};

/// Reads a tape to its end, and encodes and decodes its payloads by each family and compression. Types that the
/// registry does not have are measured as records, if their payloads describe themselves. Other payloads need the
/// program: call this there, with its registry and families.
///
/// Takes time for each measured payload: twice as long as to encode and decode it by each family and compression.
///
/// Fails with `bad_option` if no compression is named, and as tape::go_on() does if one of `next_files` cannot be read.
/// A family that the set does not have is not measured, and its figures say so. Requires: nobody else uses the tape.
[[nodiscard]] TROUPE_EXPORT std::expected<tape_cost_report, node_error>
tape_cost(tape& from, const type_registry& types, const family_set& families, const tape_cost_options& options = {});

} // namespace troupe
