// What does a node with 1,000 links pay for somebody who looks at it?
//
// An actor of another process sends small messages over one of the links, as fast as it can with a question after every
// 1,000. Meanwhile the other links are idle, and a viewer asks the node's own gateway for the state once a second, as
// the page does: the node collects the figures of all links and writes them as JSON. `unseen` and `unseen-again` are
// the same, without a viewer: their ratio is what chance makes.
#include "harness/step_program.hpp"
#include "peers/troupe_process.hpp"
#include "view/subjects.hpp"

namespace bench {

namespace {

constexpr limit limits[] = {
    {view_messages_name, "viewed", false, 0.9, "unseen"},
};

step_program view_program() {
  step_program program;
  program.name = "view";
  program.description =
      "Measures messages to a node with 1,000 links while somebody looks at it, and while nobody does";
  for (const auto* const each : view_subjects)
    program.subjects.emplace_back(each);
  program.peers = {"unseen"};
  program.step = "send";
  program.quantities = {{view_messages_name, "1/s"}};
  program.time = std::chrono::milliseconds(5000);
  program.limits = limits;
  program.prepare = make_secret_of_this_run;
  program.serve = serve_view;
  program.connect = connect_view;
  return program;
}

} // namespace

} // namespace bench

int main(int argument_count, char** arguments) {
  return bench::run(bench::view_program(), argument_count, arguments);
}
