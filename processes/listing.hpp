// The processes of this machine that this user may inspect.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace troupe::processes {

/// All processes, in no order; some may have ended meanwhile.
[[nodiscard]] std::vector<pid_t> all_numbers();

/// The state letter of proc(5), such as 'T' for a stopped process and 'Z' for a dead one that is not reaped; '\0' if
/// there is no such process.
[[nodiscard]] char state_of(pid_t process);

/// The arguments that the process was started with; empty if there is no such process, or it is dead.
[[nodiscard]] std::vector<std::string> arguments_of(pid_t process);
/// The environment that the process was started with, as NAME=VALUE; empty as for arguments_of().
[[nodiscard]] std::vector<std::string> environment_of(pid_t process);

/// The processes that were started with `variable`, "NAME=VALUE". Children inherit variables, so a program's children
/// are found even after its death.
[[nodiscard]] std::vector<pid_t> with_variable(std::string_view variable);
/// The processes with an argument that contains `part`.
[[nodiscard]] std::vector<pid_t> with_argument(std::string_view part);

/// The process and all its descendants.
[[nodiscard]] std::vector<pid_t> family_of(pid_t process);

} // namespace troupe::processes
