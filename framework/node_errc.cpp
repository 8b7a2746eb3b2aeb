#include <troupe/framework/node_errc.hpp>

namespace troupe {

std::string to_string(node_errc code) {
  switch (code) {
    using enum node_errc;
  case none:
    return "none";
  case bad_option:
    return "bad_option";
  case bad_address:
    return "bad_address";
  case name_taken:
    return "name_taken";
  case nothing_in_common:
    return "nothing_in_common";
  case refused_family:
    return "refused_family";
  case unserializable:
    return "unserializable";
  case unsupported:
    return "unsupported";
  case not_found:
    return "not_found";
  case interface_mismatch:
    return "interface_mismatch";
  case timed_out:
    return "timed_out";
  case store_full:
    return "store_full";
  case cannot_connect:
    return "cannot_connect";
  case refused:
    return "refused";
  case link_down:
    return "link_down";
  case protocol_violation:
    return "protocol_violation";
  case undecodable:
    return "undecodable";
  case object_lost:
    return "object_lost";
  case link_busy:
    return "link_busy";
  case not_allowed:
    return "not_allowed";
  case task_failed:
    return "task_failed";
  case broken_promise:
    return "broken_promise";
  case spawn_failed:
    return "spawn_failed";
  case fetch_timed_out:
    return "fetch_timed_out";
  case object_freed:
    return "object_freed";
  case disk_full:
    return "disk_full";
  case out_of_band_handle:
    return "out_of_band_handle";
  case outcome_unknown:
    return "outcome_unknown";
  case version_mismatch:
    return "version_mismatch";
  case gave_up:
    return "gave_up";
  case child_lost:
    return "child_lost";
  case no_child:
    return "no_child";
  case another_peer:
    return "another_peer";
  case unreadable:
    return "unreadable";
  }
  return "node_errc " + std::to_string(static_cast<int>(code));
}

} // namespace troupe
