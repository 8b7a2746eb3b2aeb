// A folder for the files of one subject's programs.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>

#include <stdlib.h>

namespace bench {

/// The destructor removes the folder and everything in it.
class own_folder {
public:
  /// Creates a folder in `where` with a unique name that begins with `name`. Throws if that fails.
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

  /// For a near end that is the last user of the folder: once removed, the folder cannot be left behind.
  static void remove(const std::filesystem::path& folder) {
    std::error_code ignored; // The other end may have removed it.
    std::filesystem::remove_all(folder, ignored);
  }

private:
  std::filesystem::path path_;
};

} // namespace bench
