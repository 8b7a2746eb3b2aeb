// The output file with every word.
#pragma once

#include "counts.hpp"

#include <expected>
#include <string>

namespace wordcount {

/// Writes every word as `count<TAB>word`, most frequent first, ties in byte order. A regular file appears whole or not
/// at all, because it is written under another name in the same folder and then renamed. If the path exists and is no
/// regular file, such as /dev/stdout or a link, it is written directly. A stop signal leaves no partial file.
/// Fails with a text.
[[nodiscard]] std::expected<void, std::string> write_output(const std::string& path, const word_totals& totals);

} // namespace wordcount
