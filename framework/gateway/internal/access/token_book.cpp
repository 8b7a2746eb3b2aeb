#include <troupe/framework/gateway/internal/access/token_book.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>
#include <span>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/crypto.h>
#include <openssl/sha.h>

#include <troupe/framework/gateway/internal/words/names.hpp>

namespace troupe::web {

namespace {

constexpr std::size_t token_file_bytes_max = 1 << 20;

bool may_be_in_token(char character) {
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z')
         || (character >= '0' && character <= '9') || character == '-' || character == '_' || character == '.'
         || character == '~';
}

std::vector<std::string_view> words_in(std::string_view line) {
  constexpr std::string_view blanks = " \t\r";
  std::vector<std::string_view> words;
  for (auto from = line.find_first_not_of(blanks); from != std::string_view::npos;) {
    const auto to = std::min(line.find_first_of(blanks, from), line.size());
    words.push_back(line.substr(from, to - from));
    from = line.find_first_not_of(blanks, to);
  }
  return words;
}

std::unexpected<node_error> unusable(std::string text) {
  return std::unexpected{node_error{node_errc::bad_option, std::move(text)}};
}

/// Closes a descriptor.
struct open_file {
  explicit open_file(int what) noexcept : descriptor(what) {}
  open_file(const open_file&) = delete;
  open_file& operator=(const open_file&) = delete;
  ~open_file() {
    if (descriptor >= 0)
      ::close(descriptor);
  }
  const int descriptor;
};

} // namespace

token_book::hash token_book::hash_of(std::string_view token) {
  hash made{};
  ::SHA256(reinterpret_cast<const unsigned char*>(token.data()), token.size(), made.data());
  return made;
}

std::expected<token_book, node_error> token_book::parse(std::string_view text, const std::string& file) {
  token_book book;
  std::set<hash> known;
  std::set<std::string_view> names;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto words = words_in(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (words.empty() || words.front().starts_with('#'))
      continue;
    const auto place = file + ", line " + std::to_string(number) + ": ";
    if (words.size() < 3)
      return unusable(place + "expected the name of a token, the token and its rights");
    if (!is_name(words[0]))
      return unusable(place + "the name of a token has letters, digits, '-', '_' and '.'");
    const auto token = words[1];
    if (token.size() < token_characters_min || token.size() > token_characters_max
        || !std::ranges::all_of(token, may_be_in_token))
      return unusable(place + "a token has 32 to 256 characters: letters, digits, '-', '_', '.', '~'; this one has "
                      + std::to_string(token.size()));
    if (!names.insert(words[0]).second)
      return unusable(place + "the name \"" + std::string(words[0]) + "\" stands on an earlier line");
    token_rights rights;
    rights.name = words[0];
    for (const auto word : std::span(words).subspan(2))
      if (auto added = rights.add(word); !added)
        return unusable(place + added.error());
    entry made{hash_of(token), std::make_shared<const token_rights>(std::move(rights))};
    if (!known.insert(made.of_token).second)
      return unusable(place + "the same token stands on an earlier line");
    book.entries_.push_back(std::move(made));
  }
  if (book.entries_.empty())
    return unusable(file + " has no token");
  return book;
}

std::expected<token_book, node_error> token_book::read(const std::string& file) {
  const open_file opened{::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)};
  struct stat about {};
  if (opened.descriptor < 0 || ::fstat(opened.descriptor, &about) != 0)
    return unusable("the token file \"" + file + "\" cannot be read: " + std::strerror(errno));
  if (!S_ISREG(about.st_mode))
    return unusable("the token file \"" + file + "\" is no file");
  if (about.st_uid != ::geteuid() && about.st_uid != 0)
    return unusable("the token file \"" + file + "\" belongs to another user");
  if ((about.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    return unusable("other users have access to the token file \"" + file + "\": run chmod 600");
  std::string text(token_file_bytes_max + 1, '\0');
  std::size_t bytes = 0;
  while (bytes < text.size()) {
    const auto got = ::read(opened.descriptor, text.data() + bytes, text.size() - bytes);
    if (got < 0)
      return unusable("the token file \"" + file + "\" cannot be read: " + std::strerror(errno));
    if (got == 0)
      break;
    bytes += static_cast<std::size_t>(got);
  }
  if (bytes > token_file_bytes_max)
    return unusable("the token file \"" + file + "\" has more than 1 MiB");
  text.resize(bytes);
  auto book = parse(text, file);
  ::OPENSSL_cleanse(text.data(), text.size());
  return book;
}

/// Compares with every entry, so that the time does not tell how much of a guess was right.
std::shared_ptr<const token_rights> token_book::find(std::string_view token) const {
  if (token.size() > token_characters_max)
    return nullptr;
  const auto wanted = hash_of(token);
  std::shared_ptr<const token_rights> found;
  for (const auto& each : entries_)
    if (::CRYPTO_memcmp(each.of_token.data(), wanted.data(), wanted.size()) == 0)
      found = each.rights;
  return found;
}

} // namespace troupe::web
