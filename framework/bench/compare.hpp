// compare(): measures what a program's own values cost by each family, compression and kind of link.
//
//     auto result = troupe::bench::compare<order>(samples, {.families = {"typed", "json"}, .over = {"unix", "tcp"}});
//     std::cout << result->table() << result->advice() << '\n';
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <expected>
#include <span>
#include <string>
#include <vector>

#include <troupe/base/export.hpp>
#include <troupe/framework/bench/comparison.hpp>
#include <troupe/framework/bench/sample_source.hpp>
#include <troupe/framework/link_options.hpp>
#include <troupe/framework/node_errc.hpp>
#include <troupe/serializers/compression.hpp>
#include <troupe/serializers/family.hpp>
#include <troupe/serializers/type_registry.hpp>

namespace troupe::bench {

struct compare_options {
  /// The families to compare. One that cannot carry the type gets rows that say why. Families that trust their input
  /// are allowed, because all values are the caller's own. "caf" is always known.
  std::vector<std::string> families = {"typed", "msgpack", "json"};

  /// The compressions to compare. Over "store" and "inproc" nothing is compressed, so there is one row for each family.
  std::vector<troupe::compression> compressions = std::vector<troupe::compression>(1, compression::none);

  /// The kinds of links: "inproc" (within a process; one row, because nothing is encoded), "unix" (a unix socket),
  /// "tcp" (over the loopback interface), "store" (the ends share a store, as two processes of a host do by default:
  /// large frames travel as handles, and all other bytes through rings in shared memory).
  std::vector<std::string> over = {"inproc", "unix", "tcp"};

  /// About how long the whole measurement may take. Short: larger spreads. Setting up the links comes in addition, as
  /// does a value whose encoding takes longer than its share. At least one round is made.
  std::chrono::milliseconds time = std::chrono::seconds(5);

  /// Each round measures everything once, so that a disturbance of the machine affects all rows. Fewer are made if the
  /// time is over before.
  std::size_t rounds = 5;

  /// The name of the type in texts, and its alias if `types` is null.
  std::string name = "sample";

  /// The registry that the program gives to its node, for types with own codecs, or for cereal, caf and protobuf. Null:
  /// a new registry with the type alone. It must have the type. It must outlive the call.
  type_registry* types = nullptr;

  /// The family set that the program gives to its node, for further families. Null: a new one, with "caf". It must
  /// outlive the call.
  const family_set* known_families = nullptr;

  /// The other options of the links, such as `receive_limits` for large values, and `spill_bytes`. The comparison
  /// itself sets the families, compression, trust, credentials, and whether a store is shared.
  link_options links = {};
};

namespace detail {

/// Measures values of that entry's type. Fails as compare() does.
[[nodiscard]] TROUPE_EXPORT std::expected<comparison, node_error>
measure(const sample_source& samples, std::type_index type, type_registry& types, const compare_options& options);

} // namespace detail

/// Measures the samples by each family and compression: encoding and decoding, bytes, a stream of messages and requests
/// over each kind of link. Opens nodes and links within this process for that time. All of them are gone when the call
/// returns.
///
/// Both ends run in this process, on its cores: use the figures to compare families. `troupe bench` measures between
/// processes and hosts. The build must be optimized, or the figures mean nothing.
///
/// T must be described, or registered in `options.types` with a codec of its own (then also
/// CAF_ALLOW_UNSAFE_MESSAGE_TYPE).
///
/// Blocks for about `options.time`. Do not call it in an actor's handler.
/// Threads: any; two calls at a time disturb each other's figures.
/// Fails with
/// - `bad_option` if there are no samples, no families, no compressions or no kinds of links, if a kind or a family is
///   unknown, if `rounds` or `time` are not above 0, if `types` lacks the type, or as node::open and node::connect;
/// - the errors of node::open.
/// What fails for one row only is that row's `failure`, and the other rows are measured: a family that cannot carry the
/// type, a store or a port that cannot be opened, a value that exceeds a limit.
template <std::copy_constructible T>
[[nodiscard]] std::expected<comparison, node_error> compare(std::span<const T> samples,
                                                            const compare_options& options = {}) {
  const detail::samples_of<T> source{samples};
  type_registry own;
  if (options.types == nullptr && own.find<T>() == nullptr) // The registry knows numbers, texts and vectors of them.
    own.add<T>(options.name);
  auto made = detail::measure(source, typeid(T), options.types != nullptr ? *options.types : own, options);
  if (made)
    made->is_optimized = made->is_optimized && detail::optimized;
  return made;
}

} // namespace troupe::bench
