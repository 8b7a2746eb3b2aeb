// Detects that a descriptor no longer refers to the file that it was opened for.
#pragma once

#include <sys/stat.h>

namespace troupe::store::internal {

/// Device and inode of an open file, taken when it was opened. Other code in the process may end the descriptor, by
/// closefrom() or by closing the wrong number. The next open then gives the number to another file.
class file_identity {
public:
  file_identity() = default;
  explicit file_identity(int descriptor) {
    struct stat status {};
    if (descriptor >= 0 && ::fstat(descriptor, &status) == 0)
      *this = file_identity(status);
  }
  explicit file_identity(const struct stat& status) : device_(status.st_dev), inode_(status.st_ino), known_(true) {}

  /// Whether the descriptor still refers to that file.
  [[nodiscard]] bool is_of(int descriptor) const { return known_ && *this == file_identity(descriptor); }

  bool operator==(const file_identity&) const = default;

private:
  dev_t device_ = 0;
  ino_t inode_ = 0;
  bool known_ = false;
};

} // namespace troupe::store::internal
