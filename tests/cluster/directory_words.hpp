// Short forms of a directory's calls, for tests. A call that fails ends the test.
#pragma once

#include <troupe/framework/cluster/directory.hpp>

#include <initializer_list>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace troupe::tests {

inline directory_condition is_absent(std::string key) {
  return {.key = std::move(key), .what = directory_condition::kind::absent, .revision = 0};
}
inline directory_condition is_created_at(std::string key, std::uint64_t revision) {
  return {.key = std::move(key), .what = directory_condition::kind::created_at, .revision = revision};
}
inline directory_condition is_changed_at(std::string key, std::uint64_t revision) {
  return {.key = std::move(key), .what = directory_condition::kind::changed_at, .revision = revision};
}
inline directory_write putting(std::string key, std::string value, std::uint64_t lease = 0) {
  return {.key = std::move(key), .what = directory_write::kind::put, .value = std::move(value), .lease = lease};
}
inline directory_write removing(std::string key) {
  return {.key = std::move(key), .what = directory_write::kind::remove, .value = {}, .lease = 0};
}

/// The value of a call that must not fail.
template <class Value>
Value must(std::expected<Value, directory_error> done) {
  if (!done)
    throw std::runtime_error(std::string{to_string(done.error().code())} + ": " + done.error().message());
  if constexpr (!std::is_void_v<Value>)
    return *std::move(done);
}

/// The code of a call that must fail, `none` if it did not.
template <class Value>
directory_errc code_of(const std::expected<Value, directory_error>& done) {
  return done ? directory_errc::none : done.error().code();
}

using directory_conditions = std::vector<directory_condition>;
using directory_writes = std::vector<directory_write>;

inline directory_commit commit_if(directory& to, const directory_conditions& conditions,
                                  const directory_writes& writes) {
  return must(to.commit(conditions, writes));
}

/// Puts without a condition, and gives the revision.
inline std::uint64_t put(directory& to, std::string key, std::string value, std::uint64_t lease = 0) {
  return commit_if(to, {}, {putting(std::move(key), std::move(value), lease)}).revision;
}

inline std::uint64_t remove(directory& from, std::string key) {
  return commit_if(from, {}, {removing(std::move(key))}).revision;
}

inline std::vector<std::string> keys_of(const std::vector<directory_entry>& entries) {
  std::vector<std::string> keys;
  for (const auto& each : entries)
    keys.push_back(each.key);
  return keys;
}

inline std::vector<std::string> keys_below(directory& in, std::string_view prefix) {
  return keys_of(must(in.list(prefix)).entries);
}

/// The entry of exactly this key, which must exist.
inline directory_entry entry_of(directory& in, std::string_view key) {
  for (auto& each : must(in.list(key)).entries)
    if (each.key == key)
      return std::move(each);
  throw std::runtime_error("no such key: " + std::string{key});
}

} // namespace troupe::tests
