#include <troupe/store/internal/files/data_pages.hpp>

#include <troupe/base/sizes.hpp>
#include <troupe/store/internal/files/page_care.hpp>
#include <troupe/store/internal/host/crash_point.hpp>

#include <algorithm>
#include <string>

namespace troupe::store::internal {

namespace {

constexpr auto steps_per_word = std::uint64_t{64};

[[nodiscard]] constexpr std::uint64_t round_down(std::uint64_t number, std::uint64_t step) {
  return number / step * step;
}

} // namespace

data_pages::data_pages(control_view view, const owned_file& file, std::byte* writable)
    : view_(view),
      file_(file),
      writable_(writable),
      known_(view.header().capacity_bytes / data_step_bytes / steps_per_word + 1) {}

std::expected<void, store_error> data_pages::commit(std::uint64_t from, std::uint64_t until) {
  return commit({from, until}, true);
}

std::expected<void, store_error> data_pages::commit_exactly(std::uint64_t from, std::uint64_t until) {
  return commit({from, until}, false);
}

bool data_pages::are_known(std::uint64_t from, std::uint64_t until) const {
  const auto unknown = first_unknown({from, until});
  return unknown.from >= unknown.until;
}

std::expected<void, store_error> data_pages::commit(range wanted, bool whole_steps) {
  wanted = {round_down(wanted.from, page_bytes),
            std::min(round_up(wanted.until, page_bytes), view_.header().capacity_bytes)};
  if (auto room = check_room(wanted); !room)
    return room;
  for (auto part = first_unknown(wanted); part.from < part.until; part = first_unknown({part.until, wanted.until})) {
    auto taken = whole_steps ? with_whole_steps(part) : part;
    auto done = take(taken);
    if (!done && (taken.from < part.from || taken.until > part.until)) { // The requested pages may still fit.
      taken = part;
      done = take(taken);
    }
    if (!done)
      return done;
    reach(crash_point::pages_taken);
    note(taken);
  }
  return {};
}

/// The first part of `among` that may lack pages, at most as long as one piece; empty if there is none.
data_pages::range data_pages::first_unknown(range among) const {
  auto from = std::max(among.from, view_.header().data_committed.load());
  while (from < among.until && is_known_step(from))
    from = end_of_step(from);
  if (from >= among.until)
    return {among.until, among.until};
  const auto longest = std::min(among.until, round_down(from, data_step_bytes) + commit_piece_bytes);
  auto until = end_of_step(from);
  while (until < longest && !is_known_step(until))
    until = end_of_step(until);
  return {from, std::min(until, longest)};
}

/// Fails if a range of several pieces does not fit into the file system now, so that none of it is taken. Pages cannot
/// be given back, because another process may already rely on them. A single piece is not checked: the file system
/// takes it whole or not at all.
std::expected<void, store_error> data_pages::check_room(range wanted) const {
  const auto first = first_unknown(wanted);
  if (first.until >= wanted.until)
    return {};
  const auto free = bytes_free(file_);
  if (!free || *free >= wanted.until - first.from)
    return {};
  const auto missing = least_bytes_without_pages(file_, first.from, wanted.until);
  if (missing <= *free)
    return {};
  return std::unexpected(store_error{store_errc::full, "needs " + grouped(missing)
                                                           + " bytes more, the file system of the store has "
                                                           + grouped(*free) + " left"});
}

data_pages::range data_pages::with_whole_steps(range part) const {
  return {round_down(part.from, data_step_bytes), end_of_step(part.until - 1)};
}

std::expected<void, store_error> data_pages::take(range part) {
  if (view_.header().huge_pages != 0) // The kernel gives huge pages at a touch, not for fallocate.
    touch_for_writing({writable_ + part.from, part.until - part.from});
  return commit_pages(file_, part.from, part.until);
}

/// Records the pages of `part`. Moves the watermark over all known pages from there on, including those behind room
/// that had no pages until now.
void data_pages::note(range part) {
  for (auto at = round_up(part.from, data_step_bytes); at < part.until && end_of_step(at) <= part.until;
       at = end_of_step(at)) {
    const auto step = at / data_step_bytes;
    known_[step / steps_per_word].fetch_or(std::uint64_t{1} << step % steps_per_word);
  }
  auto& watermark = view_.header().data_committed;
  for (auto have = watermark.load();;) {
    auto next = part.from <= have ? std::max(have, part.until) : have;
    while (next < view_.header().capacity_bytes && is_known_step(next))
      next = end_of_step(next);
    if (next == have || watermark.compare_exchange_weak(have, next))
      return;
  }
}

bool data_pages::is_known_step(std::uint64_t at) const {
  const auto step = at / data_step_bytes;
  return (known_[step / steps_per_word].load() >> step % steps_per_word & 1) != 0;
}

std::uint64_t data_pages::end_of_step(std::uint64_t at) const {
  return std::min(round_down(at, data_step_bytes) + data_step_bytes, view_.header().capacity_bytes);
}

} // namespace troupe::store::internal
