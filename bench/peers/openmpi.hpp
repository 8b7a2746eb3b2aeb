// Open MPI: two ranks of one job over its shared memory (the transport `vader`). Both ends poll.
#pragma once

#include "peers/small_messages.hpp"

namespace bench {

/// MPI_Send and MPI_Recv for each message.
[[nodiscard]] subject openmpi_blocking();
/// Windows of MPI_Isend and MPI_Irecv with MPI_Waitall.
[[nodiscard]] subject openmpi_windowed();
/// MPI_Send and MPI_Recv, with many structs per message.
[[nodiscard]] subject batches_openmpi();

} // namespace bench
