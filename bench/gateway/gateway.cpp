// How many requests does a gateway answer in a second, beside the least that a server on Boost.Beast does?
//
// Clients of HTTP send a text of 32 characters as JSON and wait for the answer, over 1 or 16 connections to 127.0.0.1.
// The plain server answers with the body. The gateway checks token, host and rate, decodes the JSON, asks an actor, and
// encodes its answer. Both serve their connections on one thread; the gateway's actor has a thread of CAF's.
#include "gateway/subjects.hpp"
#include "harness/step_program.hpp"
#include "peers/troupe_process.hpp"

namespace bench {

namespace {

constexpr limit limits[] = {
    {requests_name, "gateway-1", false, 0.5, "beast-1"},
    {requests_name, "gateway-16", false, 0.5, "beast-16"},
};

step_program gateway_program() {
  step_program program;
  program.name = "gateway";
  program.description = "Measures requests to a gateway beside a plain server of HTTP";
  for (const auto& each : gateway_subjects())
    program.subjects.push_back(each.name);
  program.peers = {"beast-1", "beast-16"};
  program.step = "call";
  program.quantities = {{requests_name, "1/s"}, {request_time_p50_name, "us"}, {request_time_p99_name, "us"}};
  program.limits = limits;
  program.prepare = make_secret_of_this_run;
  program.serve = [](const std::string& subject, const auto& ready) {
    return serve_gateway(*find_gateway_subject(subject), ready);
  };
  program.connect = [](const std::string& subject, const std::string& address) {
    return connect_gateway(*find_gateway_subject(subject), address);
  };
  return program;
}

} // namespace

} // namespace bench

int main(int argument_count, char** arguments) {
  return bench::run(bench::gateway_program(), argument_count, arguments);
}
