#include <troupe/framework/gateway/internal/access/token_rights.hpp>

#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include <troupe/framework/gateway/internal/words/names.hpp>

namespace troupe::web {

namespace {

std::optional<std::uint64_t> bytes_in(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, unsigned>, 3> units{{{"KiB", 10}, {"MiB", 20}, {"GiB", 30}}};
  std::uint64_t count = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (failure != std::errc() || end == text.data())
    return std::nullopt;
  const auto unit = text.substr(static_cast<std::size_t>(end - text.data()));
  if (unit.empty())
    return count;
  for (const auto& [name, shift] : units)
    if (unit == name && count <= UINT64_MAX >> shift)
      return count << shift;
  return std::nullopt;
}

/// Whether there can be an actor or an object of that name, or the name stands for all.
bool may_be_covered(std::string_view name) {
  return name == "*" || is_name(name);
}

} // namespace

void name_list::add(std::string_view name) {
  if (name == "*")
    all_ = true;
  else
    names_.emplace(name);
}

bool name_list::covers(std::string_view name) const {
  return all_ || names_.contains(name);
}

std::expected<void, std::string> token_rights::add(std::string_view word) {
  constexpr std::string_view call = "call:";
  constexpr std::string_view read = "read:";
  constexpr std::string_view put = "put:";
  if (word == "schema") {
    schema = true;
    return {};
  }
  if (word == "view" || word == "act") {
    (word == "view" ? view : act) = true;
    return {};
  }
  if (word.starts_with(call) && may_be_covered(word.substr(call.size()))) {
    calls.add(word.substr(call.size()));
    return {};
  }
  if (word.starts_with(read) && may_be_covered(word.substr(read.size()))) {
    reads.add(word.substr(read.size()));
    return {};
  }
  if (word.starts_with(put)) {
    if (put_bytes != 0)
      return std::unexpected{"\"" + std::string(word) + "\" is a second right to make objects"};
    if (const auto bytes = bytes_in(word.substr(put.size()))) {
      put_bytes = *bytes;
      return {};
    }
  }
  return std::unexpected{"\"" + std::string(word)
                         + "\" is no right; there are call:NAME, read:ID, schema, view, act and put:BYTES. A name has "
                           "letters, digits, '-', '_' and '.', or it is '*' for all"};
}

} // namespace troupe::web
