// Arrays that occur several times in a JSON text. The first place has the array and its number, the other places have
// only the number.
#include <algorithm>
#include <utility>

#include <troupe/serializers/json/json_reader.hpp>

namespace troupe {

// Reads the number of an array that occurs in several places. In all places but the first, the number is the whole
// object.
bool json_reader::take_array_head(std::size_t& number, bool& again) {
  std::string_view key;
  troupe::number value;
  ++at_;
  skip_space();
  if (!read_text(key) || !take(':', "behind a key"))
    return false;
  skip_space();
  if (!(peek() == '-' || (peek() >= '0' && peek() <= '9')) || !read_number(value) || !value.to(number))
    return malformed("no number of an array"); // An earlier failure takes precedence.
  if (!take(',', "behind the number of an array"))
    return false;
  const auto* const content = at_;
  const auto is_next = [&](std::string_view expected) {
    skip_space();
    const auto is = std::string_view(at_, left()).starts_with(expected);
    at_ += is ? expected.size() : 0;
    return is;
  };
  again = is_next("\"data\"") && is_next(":") && is_next("null") && is_next("}");
  if (again)
    return true;
  at_ = content;
  skip_space();
  return peek() == '"' || malformed("expected a key, which is a text");
}

bool json_reader::at_numbered_array(std::size_t& number, bool& again) {
  if (at_member_key() || kind() != value_kind::map || !begins_with_key("$array"))
    return false;
  const auto* const here = at_;
  const auto is_good = take_array_head(number, again);
  at_ = here;
  return is_good;
}

// Finds all numbered arrays. The mark cannot occur within a text, because quotes are escaped there.
bool json_reader::find_arrays() {
  constexpr std::string_view mark = "\"$array\"";
  const std::string_view whole(begin_, static_cast<std::size_t>(end_ - begin_));
  const auto* const here = at_;
  for (auto found = whole.find(mark); found != std::string_view::npos; found = whole.find(mark, found + mark.size())) {
    const auto brace = found == 0 ? std::string_view::npos : whole.find_last_not_of(" \n\r\t", found - 1);
    const auto behind = std::min(whole.find_first_not_of(" \n\r\t", found + mark.size()), whole.size());
    if (brace == std::string_view::npos || whole[brace] != '{' || behind == whole.size() || whole[behind] != ':')
      continue;
    numbered_array array{};
    bool again = false;
    at_ = begin_ + brace;
    if (!take_array_head(array.number, again))
      return false;
    array.content = at_;
    if (!again && (!charge_memory(2 * sizeof(array)) || (arrays_.push_back(array), false)))
      return false;
  }
  std::ranges::stable_sort(arrays_, {}, &numbered_array::number);
  at_ = here;
  return true;
}

// Opens the array's object. At a reference, opens the object to which it refers, which is then read again.
bool json_reader::open_numbered_array(bool all_keys) {
  std::size_t number = 0;
  bool again = false;
  const auto* const here = at_;
  if (!take_array_head(number, again))
    return false;
  if (!again)
    return open(form::members, all_keys);
  const auto* const return_to = at_;
  if (!std::exchange(knows_arrays_, true) && !find_arrays())
    return false;
  const auto known = std::ranges::lower_bound(arrays_, number, {}, &numbered_array::number);
  if (known == arrays_.end() || known->number != number || known->content > here || read_again_ != nullptr)
    return malformed("refers to array " + grouped(number) + ", which does not stand before it");
  read_again_ = at_ = known->content;
  if (!open(form::members, all_keys))
    return false;
  levels_.back().return_to = return_to;
  return true;
}

} // namespace troupe
