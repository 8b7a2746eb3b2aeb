// A folder of a subject's own, for what its programs put into files.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>

#include <stdlib.h>

namespace bench {

/// Goes with this object, and with all that is in it.
class own_folder {
public:
  /// In `where`, with a name that begins with `name` and that nobody else has. Throws where it cannot be made.
  explicit own_folder(const std::string& name,
                      const std::filesystem::path& where = std::filesystem::temp_directory_path()) {
    auto made = (where / (name + "-XXXXXX")).string();
    if (::mkdtemp(made.data()) == nullptr)
      throw std::runtime_error{"cannot make " + made};
    path_ = made;
  }
  own_folder(const own_folder&) = delete;
  own_folder& operator=(const own_folder&) = delete;
  ~own_folder() { remove(path_); }

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  /// Also for a near end that is the last to need the folder: what has no file leaves none behind, however it ends.
  static void remove(const std::filesystem::path& folder) {
    std::error_code ignored; // The other end may have removed it.
    std::filesystem::remove_all(folder, ignored);
  }

private:
  std::filesystem::path path_;
};

} // namespace bench
