// What compare() has measured, as values, as text, as JSON and as a plot, with a sentence of advice.
#pragma once

#include <cstddef>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include <troupe/base/export.hpp>
#include <troupe/framework/node_errc.hpp>
#include <troupe/serializers/compression.hpp>

namespace troupe::bench {

/// The median of the rounds, the least and the greatest of them, and the bounds of their middle half (the first and the
/// third quartile), which a disturbance of the machine in one round does not move.
struct TROUPE_EXPORT figure {
  double median = 0;
  double min = 0;
  double max = 0;
  double low = 0;
  double high = 0;

  /// Requires: `values` is not empty.
  [[nodiscard]] static figure of(const std::vector<double>& values);
  friend bool operator==(const figure&, const figure&) = default;
};

/// One family with one compression over one kind of link. All figures are means over the samples.
struct comparison_row {
  /// "none" if the link encodes nothing, as within a process. Otherwise the family that carried the messages.
  std::string family;
  troupe::compression compression = compression::none;
  std::string over; ///< "inproc", "unix", "tcp" or "store".

  /// Why there are no figures. Empty: the row was measured.
  std::string failure = {};

  bool needs_trust = false; ///< Whether links use the family only with link_options::trusted_families.

  /// Whether the C++ type is missing, as for `troupe bench --sample`. Then `encode_ns` and `decode_ns` are those of the
  /// compression alone, and `one_way_ns` and `round_trip_ns` those of sending the bytes.
  bool needs_program = false;

  double bytes = 0;        ///< Encoded, after compression, without the header, which a link sends once.
  double socket_bytes = 0; ///< Of one message in one direction through the socket, with everything that the link adds.
  double handle_bytes = 0; ///< Of one message in one direction, by handle through the store.

  figure encode_ns;           ///< Until the bytes are ready, with compression. 0 if nothing is encoded.
  figure decode_ns;           ///< From the bytes to the value. 0 if nothing is encoded.
  figure one_way_ns;          ///< The time for each message of a stream, from the first send to the last arrival.
  figure round_trip_ns;       ///< From a request until its answer, which is the same value. The median of each round.
  figure messages_per_second; ///< Of the same stream.

  [[nodiscard]] bool is_measured() const { return failure.empty(); }
  [[nodiscard]] bool is_encoded() const { return family != "none"; }
};

/// The estimated time of one message at some speed of the network.
struct network_estimate {
  std::string family;
  troupe::compression compression = compression::none;
  double encode_ns = 0;
  double transmit_ns = 0;
  double decode_ns = 0;
  [[nodiscard]] double total_ns() const { return encode_ns + transmit_ns + decode_ns; }
};

/// Up to which speed of the network a compression saves time.
struct break_even {
  std::string family;
  troupe::compression compression = compression::none;
  /// Below this speed, the saved bytes take longer to transmit than the compression takes. 0: the compression never
  /// pays. Infinity: it always does.
  double bits_per_second = 0;
  double bytes_saved = 0; ///< For each message; 0 or less if the compression saves nothing.
};

/// The result of compare(). Threads: as for any struct.
struct TROUPE_EXPORT comparison {
  std::string type;        ///< The name of the type in texts.
  std::size_t samples = 0; ///< How many values were given.
  std::size_t rounds = 0;  ///< How many rounds count. Fewer than asked if the time was over.
  /// Whether the library, and the source that called compare(), were compiled with optimization. If not, the figures
  /// mean nothing, and table() says so.
  bool is_optimized = true;
  std::string note = {}; ///< A remark about all rows, which table() and json() show. Usually empty.
  std::vector<comparison_row> rows;

  /// The row of that family over that kind of link; null if there is none. Valid while this object lives unchanged.
  [[nodiscard]] const comparison_row* find(std::string_view family, std::string_view over,
                                           troupe::compression compressed = compression::none) const;

  /// For people: a table of the codecs with estimates for some speeds of the network (at()), one of the links, and the
  /// reasons of failed rows. "-": was not measured. Ends with a line feed.
  [[nodiscard]] std::string table() const;

  /// One JSON document; its form: framework/bench/README.md. Ends with a line feed.
  [[nodiscard]] std::string json() const;

  /// A chart of the times, and one of the time over the speed of the network. gnuplot draws them. Blocks while it runs.
  /// Fails with `unsupported` if gnuplot is not installed or cannot draw.
  [[nodiscard]] std::expected<std::string, node_error> svg() const;

  /// One sentence, such as "typed: 4.1 x faster than json and 0.6 of its bytes; lz4 pays below 1.2 Gbit/s". The family
  /// that it names first is the one that encodes and decodes fastest. If the spreads of two families overlap, the
  /// sentence calls them about equally fast. If a family's times are unknown (comparison_row::needs_program), it
  /// compares bytes only. If no family was measured, it says why not.
  [[nodiscard]] std::string advice() const;

  /// The time of one message between two hosts whose network transmits that many bits per second, fastest first, with
  /// an entry for each family and compression: encoding, transmission of the encoded bytes, decoding. An estimate: the
  /// link's own work and the distance come in addition, and are the same for all families.
  /// Requires: `bits_per_second` is above 0.
  [[nodiscard]] std::vector<network_estimate> at(double bits_per_second) const;

  /// For each family and each compression other than `none` that was measured along with `none`.
  [[nodiscard]] std::vector<break_even> break_evens() const;
};

} // namespace troupe::bench
