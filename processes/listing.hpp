// The processes of this machine, as far as this user may look at them.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace troupe::processes {

/// All processes, in no order; any of them may be gone by now.
[[nodiscard]] std::vector<pid_t> all_numbers();

/// The state letter of proc(5), such as 'T' for one that is stopped and 'Z' for one that is dead but not waited for;
/// '\0' if there is no such process.
[[nodiscard]] char state_of(pid_t process);

/// What a process was started with; empty if there is no such process, or it is dead.
[[nodiscard]] std::vector<std::string> arguments_of(pid_t process);
/// NAME=VALUE each.
[[nodiscard]] std::vector<std::string> environment_of(pid_t process);

/// The processes that were started with a variable, "NAME=VALUE". It is inherited: so a program's children are found
/// even after its death.
[[nodiscard]] std::vector<pid_t> with_variable(std::string_view variable);
/// The processes of which an argument contains a text.
[[nodiscard]] std::vector<pid_t> with_argument(std::string_view part);

/// A process, its children, and theirs.
[[nodiscard]] std::vector<pid_t> family_of(pid_t process);

} // namespace troupe::processes
