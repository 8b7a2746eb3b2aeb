// What has to be done by another process, since descriptors, memory or the user count.
#pragma once

#include <troupe/processes/process.hpp>

#include <functional>
#include <string>
#include <utility>

namespace troupe::tests {

/// A process that does something with an address that it is told later, and stays until this object ends.
class other_process {
public:
  explicit other_process(std::function<bool(const std::string&)> work)
      : process_(processes::process::fork([work = std::move(work)](processes::line_channel& test) {
                   if (const auto address = test.read_line())
                     test.write_line(work(*address) ? "yes" : "no");
                   static_cast<void>(test.read_line()); // There is none: it ends.
                   return 0;
                 }).value()) {}

  bool says_yes(const std::string& address) {
    process_.channel().write_line(address);
    return process_.channel().read_line() == "yes";
  }

private:
  processes::process process_;
};

} // namespace troupe::tests
