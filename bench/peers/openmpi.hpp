// Open MPI: two ranks of one job, over its shared memory (the transport `vader`), where both ends poll.
#pragma once

#include "peers/small_messages.hpp"

namespace bench {

/// MPI_Send and MPI_Recv, a message each.
[[nodiscard]] subject openmpi_blocking();
/// Windows of MPI_Isend and MPI_Irecv with MPI_Waitall.
[[nodiscard]] subject openmpi_windowed();
/// MPI_Send and MPI_Recv, many structs to a message.
[[nodiscard]] subject batches_openmpi();

} // namespace bench
