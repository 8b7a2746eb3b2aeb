#include <troupe/store/internal/attachment/page_toucher.hpp>

#include <troupe/store/internal/files/page_care.hpp>

#include <algorithm>

namespace troupe::store::internal {

bool page_toucher::has_to_touch(table_held held) const {
  if (ahead_bytes_ == 0)
    return false;
  const auto view = held.view();
  const auto& header = view.header();
  const auto ahead = std::min<std::uint64_t>(ahead_bytes_, header.capacity_bytes);
  const auto touched = touched_bytes_.load(std::memory_order_relaxed);
  return touched < header.capacity_bytes && touched < header.data_top + ahead - ahead / 4;
}

bool page_toucher::touch_some() {
  constexpr auto piece_bytes = std::uint64_t{4} << 20;
  const auto begin = touched_bytes_.load(std::memory_order_relaxed);
  auto data_top = std::uint64_t{0};
  auto end = std::uint64_t{0};
  {
    const auto guard = access_.lock();
    if (!guard)
      return false;
    const auto view = table_held{*guard}.view();
    const auto& header = view.header();
    data_top = header.data_top;
    end = header.data_top + std::min(header.capacity_bytes - header.data_top, ahead_bytes_);
  }
  if (begin >= end)
    return false;
  end = std::min<std::uint64_t>(end, begin + piece_bytes);
  if (!pages_.commit(std::max(begin, data_top), end))
    return false;
  for (auto at = begin; at < end; at = round_up(at + 1, data_step_bytes)) {
    const auto length = std::min(round_up(at + 1, data_step_bytes), end) - at;
    if (!pages_.are_known(at, at + length))
      continue;
    touch_for_writing({memory_.writable(at), length});
    touch_for_reading({memory_.readable(at), length});
  }
  touched_bytes_.store(end, std::memory_order_relaxed);
  return true;
}

} // namespace troupe::store::internal
