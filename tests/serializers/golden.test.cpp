// Goal: the bytes of a payload, header and body, are the same in every version of this program.
// Method: the test compares the payload of one value per family with a recorded one. After a deliberate change of the
// form, the failing test prints the new lines for `golden_payloads`.
#include "every_family.hpp"

namespace {

using namespace conformance;

struct stable {
  bool yes = false;
  std::int8_t small = 0;
  std::uint64_t large = 0;
  double ratio = 0;
  rich::color paint = rich::color::red;
  std::string name;
  std::optional<std::uint16_t> maybe;
  std::optional<std::optional<bool>> layers;
  std::variant<std::monostate, int, std::string, rich::point> one_of;
  std::pair<int, std::string> two;
  std::array<std::int16_t, 3> fixed{};
  std::vector<std::int32_t> numbers;
  std::vector<std::byte> bytes;
  std::vector<rich::point> points;
  std::map<std::string, int> index;
  std::map<int, std::string> by_number;
  std::chrono::milliseconds wait{};
  std::unique_ptr<rich::leaf> owned;
  std::shared_ptr<rich::leaf> left;
  std::shared_ptr<rich::leaf> right; // The same object.
  rich::circle round;
  array<float> grid;
  frame blob;
};
TROUPE_DESCRIBE(stable, yes, small, large, ratio, paint, name, maybe, layers, one_of, two, fixed, numbers, bytes,
                points, index, by_number, wait, owned, left, right, round, grid, blob)

stable stable_example() {
  stable it;
  it.yes = true;
  it.small = -7;
  it.large = UINT64_MAX;
  it.ratio = 0.1;
  it.paint = rich::color::blue;
  it.name = "tr\xc3\xb6upe";
  it.maybe = 300;
  it.layers = std::optional<bool>();
  it.one_of = rich::point{3, 4.5};
  it.two = {2, "two"};
  it.fixed = {1, -2, 3};
  it.numbers = {1, 200, -70'000};
  it.bytes = {std::byte{0}, std::byte{255}};
  it.points = {{1, 2}, {-1, 0.5}};
  it.index = {{"a", 1}, {"b", -1}};
  it.by_number = {{-1, "minus"}, {1, "plus"}};
  it.wait = std::chrono::milliseconds(-1500);
  it.owned = std::make_unique<rich::leaf>(rich::leaf{"owned"});
  it.left = std::make_shared<rich::leaf>(rich::leaf{"shared"});
  it.right = it.left;
  it.round.label = "round";
  it.round.radius = 2;
  const std::vector<float> values = {1, 2, 3, 4};
  it.grid = array<float>::copy_of(values, {2, 2});
  it.blob = rich::frame_of("blob");
  return it;
}

bool same(const stable& a, const stable& b) {
  return std::tie(a.yes, a.small, a.large, a.ratio, a.paint, a.name, a.maybe, a.layers, a.one_of, a.two, a.fixed,
                  a.numbers, a.bytes, a.points, a.index, a.by_number, a.wait, a.round, a.grid)
             == std::tie(b.yes, b.small, b.large, b.ratio, b.paint, b.name, b.maybe, b.layers, b.one_of, b.two, b.fixed,
                         b.numbers, b.bytes, b.points, b.index, b.by_number, b.wait, b.round, b.grid)
         && *a.owned == *b.owned && *a.left == *b.left && (a.left == a.right) == (b.left == b.right)
         && rich::text_of(a.blob) == rich::text_of(b.blob);
}

/// Header and body in hexadecimal digits. The frames behind the body belong to the value.
struct golden_payload {
  std::string_view header;
  std::string_view body;
};

// clang-format off
golden_payload golden_of(std::string_view family) {
  static const std::map<std::string_view, golden_payload> golden_payloads = {
    {"typed", {
     "83a166a57479706564a174ad676f6c64656e2e737461626c65a173c5010b1817037965730105736d616c6c02056c6172"
     "67650905726174696f0b057061696e741a0603037265640105677265656e0204626c756507046e616d650c056d617962"
     "650e07066c61796572730e0e01066f6e655f6f661004046e6f6e650d0369333204037374720c05706f696e7418020178"
     "0401790b0374776f1102040c056669786564120303076e756d626572731504056279746573150606706f696e74731619"
     "0105696e646578170c040962795f6e756d62657217040c04776169741b06312f3130303005056f776e65640e1801046e"
     "616d650c046c6566740f19020572696768740f190205726f756e641802056c6162656c0c067261646975730b04677269"
     "64140a04626c6f6213",
     "01d6de330501f9ffffffffffffffff9a9999999999b93f070e7472c3b6757065012c0101000303000000000000000000"
     "1240020000000674776f0100feff03000601000000c800000090eefeff0400ff02010000000000000000000040ffffff"
     "ff000000000000e03f020261010000000262ffffffff02ffffffff0a6d696e75730100000008706c757324faffffffff"
     "ffff010a6f776e6564010c736861726564020a726f756e640000000000000040080202080000803f0000004000004040"
     "00008040"}},
    {"msgpack", {
     "82a166a76d73677061636ba174ad676f6c64656e2e737461626c65",
     "de0017a3796573c3a5736d616c6cf9a56c61726765cfffffffffffffffffa5726174696fcb3fb999999999999aa57061"
     "696e74a4626c7565a46e616d65a77472c3b6757065a56d61796265cd012ca66c617965727392d40400c0a66f6e655f6f"
     "6681a5706f696e7482a17803a179cb4012000000000000a374776f9202a374776fa566697865649301fe03a76e756d62"
     "6572739301ccc8d2fffeee90a56279746573c40200ffa6706f696e74739282a17801a179cb400000000000000082a178"
     "ffa179cb3fe0000000000000a5696e64657882a16101a162ffa962795f6e756d62657282ffa56d696e757301a4706c75"
     "73a477616974a72d313530306d73a56f776e656481a46e616d65a56f776e6564a46c65667492d6020000000081a46e61"
     "6d65a6736861726564a57269676874d60100000000a5726f756e6482a56c6162656ca5726f756e64a6726164697573cb"
     "4000000000000000a46772696482a57368617065920202a4646174619292ca3f800000ca4000000092ca40400000ca40"
     "800000a4626c6f62d60300000000"}},
    {"json", {
     "82a166a46a736f6ea174ad676f6c64656e2e737461626c65",
     "7b22796573223a747275652c22736d616c6c223a2d372c226c61726765223a3138343436373434303733373039353531"
     "3631352c22726174696f223a302e312c227061696e74223a22626c7565222c226e616d65223a227472c3b6757065222c"
     "226d61796265223a3330302c226c6179657273223a7b2224736f6d65223a6e756c6c7d2c226f6e655f6f66223a7b2270"
     "6f696e74223a7b2278223a332c2279223a342e357d7d2c2274776f223a5b322c2274776f225d2c226669786564223a5b"
     "312c2d322c335d2c226e756d62657273223a5b312c3230302c2d37303030305d2c226279746573223a7b222462797465"
     "73223a224150383d227d2c22706f696e7473223a5b7b2278223a312c2279223a322e307d2c7b2278223a2d312c227922"
     "3a302e357d5d2c22696e646578223a7b2261223a312c2262223a2d317d2c2262795f6e756d626572223a5b5b2d312c22"
     "6d696e7573225d2c5b312c22706c7573225d5d2c2277616974223a222d313530306d73222c226f776e6564223a7b226e"
     "616d65223a226f776e6564227d2c226c656674223a7b22246964223a302c222476616c7565223a7b226e616d65223a22"
     "736861726564227d7d2c227269676874223a7b2224726566223a307d2c22726f756e64223a7b226c6162656c223a2272"
     "6f756e64222c22726164697573223a322e307d2c2267726964223a7b227368617065223a5b322c325d2c227479706522"
     "3a22663332222c2264617461223a5b5b312e302c322e305d2c5b332e302c342e305d5d7d2c22626c6f62223a7b222462"
     "79746573223a22596d787659673d3d227d7d"}},
    {"lines", {
     "82a166a56c696e6573a174ad676f6c64656e2e737461626c65",
     "7b323a32330a74333a7965730a3f313a310a74353a736d616c6c0a23323a2d370a74353a6c617267650a2332303a3138"
     "3434363734343037333730393535313631350a74353a726174696f0a23333a302e310a74353a7061696e740a74343a62"
     "6c75650a74343a6e616d650a74373a7472c3b67570650a74353a6d617962650a23333a3330300a74363a6c6179657273"
     "0a21303a0a2d303a0a74363a6f6e655f6f660a7b313a310a74353a706f696e740a7b313a320a74313a780a23313a330a"
     "74313a790a23333a342e350a2e303a0a2e303a0a74333a74776f0a5b313a320a23313a320a74333a74776f0a2e303a0a"
     "74353a66697865640a5b313a330a23313a310a23323a2d320a23313a330a2e303a0a74373a6e756d626572730a5b313a"
     "330a23313a310a23333a3230300a23363a2d37303030300a2e303a0a74353a62797465730a2a323a00ff0a74363a706f"
     "696e74730a5b313a320a7b313a320a74313a780a23313a310a74313a790a23313a320a2e303a0a7b313a320a74313a78"
     "0a23323a2d310a74313a790a23333a302e350a2e303a0a2e303a0a74353a696e6465780a7b313a320a74313a610a2331"
     "3a310a74313a620a23323a2d310a2e303a0a74393a62795f6e756d6265720a7b313a320a23323a2d310a74353a6d696e"
     "75730a23313a310a74343a706c75730a2e303a0a74343a776169740a74373a2d313530306d730a74353a6f776e65640a"
     "7b313a310a74343a6e616d650a74353a6f776e65640a2e303a0a74343a6c6566740a26313a300a7b313a310a74343a6e"
     "616d650a74363a7368617265640a2e303a0a74353a72696768740a40313a300a74353a726f756e640a7b313a320a7435"
     "3a6c6162656c0a74353a726f756e640a74363a7261646975730a23313a320a2e303a0a74343a677269640a7b313a320a"
     "74353a73686170650a5b313a320a23313a320a23313a320a2e303a0a74343a646174610a5b313a320a5b313a320a2331"
     "3a310a23313a320a2e303a0a5b313a320a23313a330a23313a340a2e303a0a2e303a0a2e303a0a74343a626c6f620a2a"
     "343a626c6f620a2e303a0a"}},
    {"cereal", {
     "83a166a663657265616ca174ad676f6c64656e2e737461626c65a173c5010b1817037965730105736d616c6c02056c61"
     "7267650905726174696f0b057061696e741a0603037265640105677265656e0204626c756507046e616d650c056d6179"
     "62650e07066c61796572730e0e01066f6e655f6f661004046e6f6e650d0369333204037374720c05706f696e74180201"
     "780401790b0374776f1102040c056669786564120303076e756d626572731504056279746573150606706f696e747316"
     "190105696e646578170c040962795f6e756d62657217040c04776169741b06312f3130303005056f776e65640e180104"
     "6e616d650c046c6566740f19020572696768740f190205726f756e641802056c6162656c0c067261646975730b046772"
     "6964140a04626c6f6213",
     "0101f9ffffffffffffffff9a9999999999b93f0707000000000000007472c3b6757065002c0100010300000003000000"
     "000000000000124002000000030000000000000074776f0100feff0300030000000000000001000000c800000090eefe"
     "ff020000000000000000ff0200000000000000010000000000000000000040ffffffff000000000000e03f0200000000"
     "00000001000000000000006101000000010000000000000062ffffffff0200000000000000ffffffff05000000000000"
     "006d696e7573010000000400000000000000706c757324faffffffffffff0105000000000000006f776e656401000080"
     "0600000000000000736861726564010000000500000000000000726f756e640000000000000040020000000000000002"
     "0000000000000002000000000000000000000000000000010000803f000000400000404000008040"}},
  };
  return golden_payloads.at(family);
}
// clang-format on

std::string hex(std::span<const std::byte> bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const auto byte : bytes) {
    text += digits[std::to_integer<std::size_t>(byte) >> 4];
    text += digits[std::to_integer<std::size_t>(byte) & 15];
  }
  return text;
}

std::vector<std::byte> unhex(std::string_view text) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::vector<std::byte> bytes;
  for (std::size_t at = 0; at + 1 < text.size(); at += 2)
    bytes.push_back(static_cast<std::byte>(digit(text[at]) * 16 + digit(text[at + 1])));
  return bytes;
}

/// Digits as string literals, line by line.
std::string as_source(std::string_view digits) {
  constexpr std::size_t digits_a_line = 96;
  std::string text;
  for (std::size_t at = 0; at < digits.size(); at += digits_a_line)
    text += "\n     \"" + std::string(digits.substr(at, digits_a_line)) + "\"";
  return text.empty() ? "\n     \"\"" : text;
}

class golden : public every_family {
protected:
  golden() { add_cereal<stable>(types, "golden.stable"); }

  static golden_payload expected() { return golden_of(GetParam().name); }

  static payload stored() {
    payload made{frame::adopt(unhex(expected().header)), {frame::adopt(unhex(expected().body))}};
    if (GetParam().attaches_frames)
      made.frames.push_back(stable_example().blob);
    return made;
  }
};

INSTANTIATE_TEST_SUITE_P(, golden, testing::ValuesIn(all_families), name_of_row);

TEST_P(golden, payloads_are_written_as_they_always_were) {
  const auto sent = encoded(stable_example());
  const auto header = hex(sent.header.bytes());
  const auto body = hex(sent.frames[0].bytes());
  EXPECT_TRUE(header == expected().header && body == expected().body)
      << "the form has changed; golden_payloads would have to say:\n    {\"" << GetParam().name << "\", {"
      << as_source(header) << "," << as_source(body) << "}},";
  ASSERT_EQ(sent.frames.size(), GetParam().attaches_frames ? 2U : 1U);
}

TEST_P(golden, payloads_are_read_as_they_always_were) {
  const auto back = decoded<stable>(stored());
  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_TRUE(same(*back, stable_example()));
}

// Goal: a flipped bit of a small payload, in header or body, gives an error or a value, and has no other effect.
TEST_P(golden, payloads_survive_every_flipped_bit) {
  const auto sent = stored();
  for (const bool in_header : {true, false}) {
    const auto& of = in_header ? sent.header : sent.frames[0];
    for (std::size_t bit = 0; bit < of.size_bytes() * 8; ++bit) {
      std::vector<std::byte> bytes(of.bytes().begin(), of.bytes().end());
      bytes[bit / 8] ^= std::byte{1} << (bit % 8);
      auto flipped = sent;
      (in_header ? flipped.header : flipped.frames[0]) = frame::adopt(std::move(bytes));
      const auto before = allocated_bytes.load();
      const auto back = decoded<stable>(flipped);
      EXPECT_LT(allocated_bytes.load() - before,
                ctx.limits.memory_free_bytes + ctx.limits.memory_ratio * flipped.size_bytes() + 64_KiB)
          << (in_header ? "header" : "body") << ", bit " << bit;
      if (back) {
        EXPECT_TRUE(made_of(*back, ctx).has_value()) << (in_header ? "header" : "body") << ", bit " << bit;
      }
    }
  }
}

} // namespace
