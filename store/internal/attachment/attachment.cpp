#include <troupe/store/internal/attachment/attachment.hpp>

#include <utility>

namespace troupe::store::internal {

attachment::attachment(opened_store opened, std::string key)
    : store_(std::move(opened)),
      key_(std::move(key)),
      view_(store_.files.view),
      member_(view_, store_.lock, store_.self),
      background_(looking_interval(store_.settings), [this](job what) { return do_unasked(what); }),
      changes_(view_),
      errors_(view_, store_.settings.name),
      memory_(store_.files),
      pages_(view_, store_.files.data_file, memory_.writable(0)),
      spill_files_(spill_directory_of(store_)),
      removal_(store_, spill_files_, background_),
      own_files_(view_, spill_files_, errors_),
      holds_(view_, member_, users_, background_, removal_, changes_),
      access_(view_, member_, background_, store_.settings.lock_timeout, holds_.can_count()),
      ended_(view_, store_.self, store_.settings.lock_timeout),
      reaper_(store_, member_, ended_, removal_, changes_),
      growth_(store_.files, reaper_),
      half_done_(access_, background_, removal_, changes_),
      report_(view_, store_.self.slot, store_.settings.lock_timeout),
      spiller_(view_, {.self = store_.self,
                       .access = access_,
                       .memory = memory_,
                       .files = spill_files_,
                       .growth = growth_,
                       .half_done = half_done_,
                       .removal = removal_,
                       .changes = changes_}),
      restorer_(view_, {.self = store_.self,
                        .full_grace = store_.settings.full_grace,
                        .access = access_,
                        .memory = memory_,
                        .pages = pages_,
                        .files = spill_files_,
                        .room = spiller_,
                        .report = report_,
                        .half_done = half_done_,
                        .dead = reaper_,
                        .changes = changes_,
                        .errors = errors_}),
      toucher_(access_, memory_, pages_, store_.settings.pretouch_bytes),
      room_(view_, {.self = store_.self,
                    .access = access_,
                    .holds = holds_,
                    .memory = memory_,
                    .pages = pages_,
                    .toucher = toucher_,
                    .disk = spiller_,
                    .report = report_,
                    .growth = growth_,
                    .dead = reaper_,
                    .changes = changes_,
                    .unasked = background_,
                    .errors = errors_}),
      finder_(view_, member_, access_, holds_, errors_),
      waiter_(member_, finder_, reaper_, changes_),
      writer_(view_, {.member = member_,
                      .access = access_,
                      .holds = holds_,
                      .memory = memory_,
                      .pages = pages_,
                      .files = own_files_,
                      .room = room_,
                      .report = report_,
                      .growth = growth_,
                      .finder = finder_,
                      .changes = changes_,
                      .errors = errors_}),
      views_(view_, member_, holds_, memory_, own_files_, restorer_),
      flights_(view_, member_, access_, holds_, growth_, ended_, errors_),
      survey_(store_, member_, access_, holds_, reaper_) {}

attachment::~attachment() {
  if (member_.forked()) {
    background_.leave_to_parent();
    return;
  }
  background_.end();
  const auto nothing_is_half_done = half_done_.give_up();
  close_store(store_, nothing_is_half_done); // If moves are left, the process that reaps this slot gives them up.
}

void attachment::begin_background() noexcept {
  if (store_.settings.pretouch_bytes > 0)
    background_.want(job::touch);
  if (store_.settings.reap_interval.count() > 0)
    background_.want(job::look);
}

/// Failures are ignored: a call that needs the job's result gets the error itself.
progress attachment::do_unasked(job what) {
  switch (what) {
  case job::give_up_half_done:
    return half_done_.give_up() ? progress::done : progress::held_up;
  case job::reap:
    (void)reaper_.reap();
    break;
  case job::look:
    reaper_.reap_unasked();
    break;
  case job::spill:
    spiller_.spill_ahead();
    break;
  case job::reclaim:
    reaper_.reclaim();
    break;
  case job::remove_files:
    (void)removal_.remove_all();
    break;
  case job::touch:
    return toucher_.touch_some() ? progress::more : progress::done;
  }
  return progress::done;
}

} // namespace troupe::store::internal
