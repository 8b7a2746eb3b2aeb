// How long do a request to an actor and a ping take while another actor of the same process handles its messages slowly
// and as many messages wait for it as the link allows?
//
// And how long do they take beside another link of the same node whose messages take 20 ms to decode, or beside peers
// that dial over TLS without a pause? Measured with one I/O thread and with two.
//
// The slow actor gets strings of 4 KiB without a pause, over the same link or another one. It computes for 50, 150 or
// 400 us per message, or for one second at one message in a hundred. Meanwhile, another actor is asked one question at
// a time, and answers at once. Over unix sockets, without a store; all bounds are the defaults.
#include "harness/step_program.hpp"
#include "peers/troupe_process.hpp"
#include "stalls/subjects.hpp"

namespace bench {

namespace {

constexpr limit limits[] = {
    {request_p50_name, "beside-50us", true, 2'000},
    {request_p99_name, "beside-50us", true, 10'000},
    {request_p50_name, "beside-150us", true, 2'000},
    {request_p99_name, "beside-150us", true, 10'000},
    {request_p50_name, "beside-400us", true, 2'000},
    {request_p99_name, "beside-400us", true, 10'000},
    {request_p50_name, "other-link-150us", true, 2'000},
    {request_p99_name, "other-link-150us", true, 10'000},
    {request_p50_name, "beside-1s-in-100", true, 2'000},
    {request_p99_name, "beside-1s-in-100", true, 10'000},
    {request_p99_name, "decodes-20ms-2-io-threads", true, 5'000},
    {request_p99_name, "tls-storm-2-io-threads", true, 5'000},
};

step_program stalls() {
  step_program program;
  program.name = "stalls";
  program.description = "Measures requests beside an actor with long handlers";
  for (const auto& each : stalls_subjects())
    program.subjects.push_back(each.name);
  program.step = "ask";
  program.quantities = {{request_p50_name, "us"}, {request_p99_name, "us"}, {"ping p50", "us"}};
  program.limits = limits;
  program.prepare = make_secret_of_this_run;
  program.serve = [](const std::string& subject, const auto& ready) {
    return serve_stalls(*find_stalls_subject(subject), ready);
  };
  program.connect = [](const std::string& subject, const std::string& address) {
    return connect_stalls(*find_stalls_subject(subject), address);
  };
  return program;
}

} // namespace

} // namespace bench

int main(int argument_count, char** arguments) {
  return bench::run(bench::stalls(), argument_count, arguments);
}
