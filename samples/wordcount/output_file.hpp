// The output file with every word.
#pragma once

#include "counts.hpp"

#include <expected>
#include <string>

namespace wordcount {

/// Writes every word as `count<TAB>word`, most frequent first, ties in byte order. A regular file appears whole or not
/// at all: it is written under another name beside it and then renamed. If the path exists and is something else, such
/// as /dev/stdout or a link, it is written to directly. A stop signal that ends the process leaves no partial file.
/// Fails with a text.
[[nodiscard]] std::expected<void, std::string> write_output(const std::string& path, const word_totals& totals);

} // namespace wordcount
