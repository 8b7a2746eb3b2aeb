// How many requests does an overloaded actor of another process answer in time, with deadlines and without?
//
// The actor computes for a millisecond per request, and is asked 3,000 times a second. Each requester waits for 50 ms.
// Over a unix socket, without a store; all bounds are the defaults.
#include "harness/step_program.hpp"
#include "overload/subjects.hpp"
#include "peers/troupe_process.hpp"

namespace bench {

namespace {

constexpr limit limits[] = {{goodput_name, "deadlines-looked-at", false, 500}};

step_program overload() {
  step_program program;
  program.name = "overload";
  program.description = "Measures how many requests an overloaded actor answers in time";
  for (const auto& each : overload_subjects())
    program.subjects.push_back(each.name);
  program.step = "ask";
  program.quantities = {{goodput_name, "1/s"}, {offered_name, "1/s"}};
  program.quick_time = std::chrono::milliseconds{200};
  program.warms_up = false; // The requests of one step would delay those of the next.
  program.limits = limits;
  program.prepare = make_secret_of_this_run;
  program.serve = [](const std::string& subject, const auto& ready) {
    return serve_overload(*find_overload_subject(subject), ready);
  };
  program.connect = [](const std::string& subject, const std::string& address) {
    return connect_overload(*find_overload_subject(subject), address);
  };
  return program;
}

} // namespace

} // namespace bench

int main(int argument_count, char** arguments) {
  return bench::run(bench::overload(), argument_count, arguments);
}
