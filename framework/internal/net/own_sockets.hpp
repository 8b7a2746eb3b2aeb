// Sockets that the child of a fork does not inherit. If a child inherited them, the peers of a process that died would
// not be notified while the child lives, and no process could listen at its addresses.
#pragma once

namespace troupe::internal {

/// Like socket(2) and accept4(2), but in the child of a fork the socket is closed before fork() returns. There an open
/// /dev/null occupies its number. So a copy of the socket's owner does not close or shut down a descriptor that the
/// child opens later.
///
/// Threads: any. The socket is closed like any other, and also by exec. A raw clone system call goes unnoticed.
[[nodiscard]] int make_own_socket(int domain, int type, int protocol);
[[nodiscard]] int accept_own_socket(int listening);

} // namespace troupe::internal
