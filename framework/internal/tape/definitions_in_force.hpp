// What a later file of a tape has to repeat.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <troupe/framework/internal/tape/tape_format.hpp>

namespace troupe::internal {

/// Keeps the records without which later records have no meaning: the beginnings of links that have not ended, their
/// signatures and headers, and the names of actors. A link bounds its definitions (kept_definitions.hpp).
///
/// Threads: one.
class definitions_in_force {
public:
  /// Names of actors that are kept for one link. Later ones are not repeated.
  static constexpr std::size_t names_max = 65'536;

  /// Keeps the record if it is one of these. `encoded`: the same record.
  void note(const tape_record& record, bytes_view encoded);
  /// Forgets all about a link.
  void forget(std::uint64_t link) { links_.erase(link); }

  /// Calls `append` with each record, marked as repeated, encoded, in the order in which they came.
  template <class Append>
  void repeat(Append&& append) const {
    byte_vector encoded;
    for (const auto& [number, link] : links_)
      for (const auto& each : link.records) {
        encoded.clear();
        mark_repeated(each, encoded);
        append(bytes_view{encoded});
      }
  }

private:
  struct of_link {
    std::vector<byte_vector> records;
    std::size_t names = 0;
  };

  static void mark_repeated(const byte_vector& record, byte_vector& out);

  std::map<std::uint64_t, of_link> links_;
};

} // namespace troupe::internal
