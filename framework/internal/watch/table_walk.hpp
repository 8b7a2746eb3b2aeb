// Looks at a large table in parts, so that its lock is held briefly each time.
#pragma once

#include <cstddef>

namespace troupe::internal {

/// A walk over an unordered table that may change between two parts. An entry that is there all the time is seen at
/// least once. It is seen again if the table grows meanwhile.
///
/// Threads: one at a time. The table must not change during next().
class table_walk {
public:
  /// The most that is looked at in one part. With entries that are not in a cache, a part takes up to 0.1 ms.
  static constexpr std::size_t part = 1'024;

  /// Calls `look` with the entries of further buckets, until it has visited `part` entries and empty buckets. The last
  /// bucket is finished. Returns false once the whole table was seen.
  template <class Table, class Look>
  [[nodiscard]] bool next(const Table& table, Look look) {
    if (buckets_ != table.bucket_count()) { // It has grown, and its entries are in other buckets now.
      buckets_ = table.bucket_count();
      bucket_ = 0;
    }
    for (std::size_t visited = 0; bucket_ < buckets_ && visited < part; ++bucket_) {
      ++visited;
      for (auto at = table.begin(bucket_); at != table.end(bucket_); ++at, ++visited)
        look(*at);
    }
    return bucket_ < buckets_;
  }

private:
  std::size_t bucket_ = 0; // The next one.
  std::size_t buckets_ = 0;
};

} // namespace troupe::internal
