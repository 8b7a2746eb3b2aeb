// Work that needs another process because its descriptors, memory or user differ.
#pragma once

#include <troupe/processes/process.hpp>

#include <functional>
#include <string>
#include <utility>

namespace troupe::tests {

/// A process that runs `work` on an address that the test passes in later. It lives until this object is destroyed.
class other_process {
public:
  explicit other_process(std::function<bool(const std::string&)> work)
      : process_(processes::process::fork([work = std::move(work)](processes::line_channel& test) {
                   if (const auto address = test.read_line())
                     test.write_line(work(*address) ? "yes" : "no");
                   static_cast<void>(test.read_line()); // Returns once the test has closed the channel.
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
