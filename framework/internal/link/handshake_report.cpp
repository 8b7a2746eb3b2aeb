#include <utility>

#include <troupe/framework/internal/link/handshake_report.hpp>
#include <troupe/framework/internal/link/link_host.hpp>

namespace troupe::internal {

void handshake_report::refused(const node_error& reason) {
  is_noted_ = true;
  node_.links().note_refused_peer();
  const auto text = "a peer was refused in the handshake: " + reason.message();
  if (refusals_)
    refusals_->note(log_level::warning, text);
  else
    log_.warn(text);
}

void handshake_report::displaced() {
  is_noted_ = true;
  node_.links().note_refused_peer();
}

void handshake_report::unfinished(const node_error& reason, bool is_common) {
  if (!refusals_ || std::exchange(is_noted_, true))
    return;
  node_.links().note_refused_peer();
  refusals_->note(is_common ? log_level::info : log_level::warning,
                  "a peer has not finished the handshake: " + reason.message());
}

} // namespace troupe::internal
