// The processes of this machine that this user may inspect.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace troupe::processes {

/// All processes, in no particular order. Some may have ended meanwhile.
[[nodiscard]] std::vector<pid_t> all_numbers();

/// The state letter of proc(5), such as 'T' for a stopped process and 'Z' for one that has ended and is not reaped.
/// '\0' if there is no such process.
[[nodiscard]] char state_of(pid_t process);

/// The arguments with which the process was started. Empty if there is no such process, or if it has ended.
[[nodiscard]] std::vector<std::string> arguments_of(pid_t process);
/// The environment with which the process was started, as NAME=VALUE. Empty as for arguments_of().
[[nodiscard]] std::vector<std::string> environment_of(pid_t process);

/// The processes that were started with `variable`, "NAME=VALUE". Children inherit variables, so a program's children
/// are found even after the program has ended.
[[nodiscard]] std::vector<pid_t> with_variable(std::string_view variable);
/// The processes with an argument that contains `part`.
[[nodiscard]] std::vector<pid_t> with_argument(std::string_view part);

/// The process and all its descendants.
[[nodiscard]] std::vector<pid_t> family_of(pid_t process);

} // namespace troupe::processes
