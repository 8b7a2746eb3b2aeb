#include <troupe/store/internal/host/crash_point.hpp>

#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <string>

namespace troupe::store::internal {

std::atomic<bool> crash_points_armed{false};

namespace {

std::atomic<int> armed_point{-1};
std::atomic<std::uint32_t> remaining{0};
std::atomic<crash_action> armed_action{crash_action::kill};

} // namespace

void arm_crash_point(crash_point point, std::uint32_t nth, crash_action action) {
  armed_point = static_cast<int>(point);
  remaining = nth;
  armed_action = action;
  crash_points_armed = true;
}

void disarm_crash_points() {
  crash_points_armed = false;
  armed_point = -1;
}

void arm_crash_points_from_environment() {
  const auto* text = std::getenv("TROUPE_STORE_CRASH_POINT");
  if (text == nullptr || crash_points_armed)
    return;
  auto wanted = std::string_view{text};
  auto nth = std::uint32_t{1};
  if (auto colon = wanted.find(':'); colon != wanted.npos) {
    nth = static_cast<std::uint32_t>(std::strtoul(text + colon + 1, nullptr, 10));
    wanted = wanted.substr(0, colon);
  }
  const auto* found = std::find(crash_point_names.begin(), crash_point_names.end(), wanted);
  if (found != crash_point_names.end())
    arm_crash_point(static_cast<crash_point>(found - crash_point_names.begin()), nth);
}

void crash_point_reached(crash_point point) {
  if (armed_point != static_cast<int>(point) || remaining.fetch_sub(1) != 1)
    return;
  armed_point = -1;
  if (armed_action == crash_action::run_out_of_memory)
    throw std::bad_alloc{};
  ::raise(armed_action == crash_action::kill ? SIGKILL : SIGSTOP); // Sent to this thread, which does not continue.
}

} // namespace troupe::store::internal
