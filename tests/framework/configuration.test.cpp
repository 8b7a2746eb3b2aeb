// Options of nodes and links from a configuration file and the command line.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include <unistd.h>

#include <gmock/gmock.h>

#include <troupe/framework/internal/config/configuration.hpp>
#include <troupe/framework/internal/config/near_name.hpp>
#include <troupe/framework/node_report.hpp>

#include "log_lines.hpp"
#include "two_nodes.hpp"

namespace troupe::tests {
namespace {

using internal::configuration;

struct undescribed {
  int number = 0;
};
struct with_undescribed {
  undescribed inside;
};
TROUPE_DESCRIBE(with_undescribed, inside)

/// Parses texts as a program parses its configuration file.
class a_configuration : public testing::Test {
protected:
  /// Returns the error's text, or an empty string if there is none.
  std::string read(const std::string& text, std::vector<std::string> arguments = {}) {
    std::istringstream file{text};
    auto error = config_.parse(std::move(arguments), file);
    return error ? troupe::text_of(error) : std::string{};
  }

  node_options node() { return *config_.node_options_with(families_); }
  link_options link(const std::string& address) { return *config_.link_options_for(address, families_); }

  static bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

  family_set families_;
  system_config config_;
};

constexpr auto example = R"(
troupe { links { default { serializers = ["typed","msgpack"] spill-bytes = 65536 }
                 "tcp://10.0.0.2:7001" { serializers = ["json"] compression = "lz4" } }
         node { name = "kitchen" listen = ["unix:///tmp/k.sock"] } }
)";

TEST_F(a_configuration, sets_the_node_and_its_links) {
  ASSERT_EQ(read(example), "");
  EXPECT_EQ(node().name, "kitchen");
  EXPECT_EQ(node().listen, std::vector<std::string>{"unix:///tmp/k.sock"});
  EXPECT_EQ(link("tcp://10.0.0.2:7001").serializers, std::vector<std::string>{"json"});
  EXPECT_EQ(link("tcp://10.0.0.2:7001").compression, compression::lz4);
  EXPECT_EQ(link("tcp://10.0.0.3:7001").serializers, (std::vector<std::string>{"typed", "msgpack"}));
  EXPECT_EQ(link("tcp://10.0.0.3:7001").compression, compression::none);
}

TEST_F(a_configuration, gives_roles_to_the_peers_that_dial) {
  ASSERT_EQ(read(R"(troupe.links { default { allow-report = true }
                                   accepted { allow-find = ["clock"]
                                              roles { worker { secret-file = "w" allow-tasks = true }
                                                      ops { certificate-names = ["OU=ops"] allow-find = ["*"] } } } })",
                 {"--troupe.links.accepted.roles.worker.allow-spawn=true"}),
            "");
  const auto accepted = node().accepted_links;
  EXPECT_EQ(accepted.allow_find, std::vector<std::string>{"clock"});
  ASSERT_EQ(accepted.roles.size(), 2u);
  const peer_role worker{.name = "worker", .secret_file = "w", .allow_spawn = true, .allow_tasks = true};
  EXPECT_EQ(accepted.roles[0], worker);
  EXPECT_TRUE(accepted.roles[0].allow_tasks.is_set());
  EXPECT_FALSE(accepted.roles[0].allow_report.is_set()); // So the role has the right of all peers.
  EXPECT_EQ(accepted.roles[1].certificate_names, std::vector<std::string>{"OU=ops"});
  EXPECT_TRUE(link("unix://@x").roles.empty());
}

TEST_F(a_configuration, names_what_is_wrong_with_a_role) {
  EXPECT_THAT(read("troupe.links.default { roles { worker { allow-tasks = true } } }"),
              testing::HasSubstr("set them in troupe.links.accepted"));
  EXPECT_THAT(read("troupe.links.accepted { roles { worker { allow-task = true } } }"),
              testing::HasSubstr("did you mean \"allow-tasks\"?"));
  EXPECT_THAT(read("troupe.links.accepted { roles = true }"), testing::HasSubstr("is a group"));
  EXPECT_THAT(read("troupe.links.accepted { roles { worker = true } }"), testing::HasSubstr("is a group"));
  EXPECT_THAT(read("troupe.links.accepted { role { } }"), testing::HasSubstr("did you mean \"roles\"?"));
}

TEST_F(a_configuration, may_be_missing) {
  ASSERT_EQ(read(""), "");
  EXPECT_EQ(node().name, node_options{}.name);
  EXPECT_EQ(link("unix://@x").spill_bytes, link_options{}.spill_bytes);
  EXPECT_TRUE(system_config{}.node_options_with(families_));
}

TEST_F(a_configuration, reads_dotted_keys_and_sections_as_well_as_braces) {
  for (const auto* text :
       {"troupe.links.default { spill-bytes = 1 }", "troupe { links.default.spill-bytes = 1 }",
        "troupe.links.default.spill-bytes = 1\n", "[troupe.links.default]\nspill-bytes = 1\n",
        "[troupe]\nlinks { default { spill-bytes = 1 } }\n", "troupe={links={default={spill-bytes=1,}}}",
        "[troupe.links.\"unix://@x\"]\nspill-bytes = 1", "troupe.links.'default' { }",
        "troupe { # one\r\n links { ; two\r\n default { spill-bytes = 1 } } }\r\n"}) {
    const auto error = read(text);
    if (std::string_view{text}.find('\'') == std::string_view::npos) {
      EXPECT_EQ(error, "") << text;
      EXPECT_EQ(link("unix://@x").spill_bytes, 1u) << text;
    } else {
      EXPECT_TRUE(contains(error, "configuration:1: expected a key")) << error;
    }
  }
}

TEST_F(a_configuration, leaves_the_rest_to_caf) {
  ASSERT_EQ(read("scheduler {\n max-threads = 3 # of four\n}\ntroupe.node.name = \"a\" ; before\n[troupe.node.store]\n"
                 "enabled = false\n[scheduler]\nmax-throughput = 7\n[troupe.links.default]\nspill-bytes = 5\n",
                 {"--scheduler.policy='stealing'", "--troupe.node.dispatch=false", "rest"}),
            "");
  EXPECT_EQ(caf::get_or(config_, "scheduler.max-threads", std::uint64_t{0}), 3u);
  EXPECT_EQ(caf::get_or(config_, "scheduler.max-throughput", std::uint64_t{0}), 7u);
  EXPECT_EQ(caf::get_or(config_, "scheduler.policy", caf::atom("none")), caf::atom("stealing"));
  EXPECT_EQ(config_.remainder, std::vector<std::string>{"rest"});
  EXPECT_EQ(node().name, "a");
  EXPECT_FALSE(*node().store);
  EXPECT_FALSE(node().dispatch);
  EXPECT_EQ(link("unix://@x").spill_bytes, 5u);
}

TEST_F(a_configuration, that_caf_cannot_read_names_the_line) {
  constexpr std::string_view behind = "CAF cannot read this, at column 10: unexpected_character";
  EXPECT_EQ(read("scheduler.max-threads = 3\n"), "configuration:1: " + std::string{behind});
  EXPECT_EQ(read("\n\nscheduler.max-threads = 3\n"), "configuration:3: " + std::string{behind});
  EXPECT_TRUE(contains(read("", {"--schedular.policy=x"}), "there is no option \"--schedular.policy=x\"; --help"));
  EXPECT_TRUE(contains(read("", {"--scheduler.max-threads=abc"}), "the argument \"--scheduler.max-threads=abc\""));
}

TEST_F(a_configuration, gives_way_to_the_command_line) {
  ASSERT_EQ(read(example, {"--troupe.node.name=pantry", R"(--troupe.links.default.serializers=["json"])",
                           R"(--troupe.links."tcp://10.0.0.2:7001".compression=zstd)",
                           "--troupe.links.default.spill-bytes=4KiB", "--troupe.links.default.spill-bytes=2 KiB",
                           "--troupe.links.default.allow-tasks", "--", "--troupe.node.name=beyond"}),
            "");
  EXPECT_EQ(node().name, "pantry");
  EXPECT_EQ(link("unix://@x").serializers, std::vector<std::string>{"json"});
  EXPECT_EQ(link("unix://@x").spill_bytes, 2048u);
  EXPECT_TRUE(link("unix://@x").allow_tasks);
  EXPECT_EQ(link("tcp://10.0.0.2:7001").compression, compression::zstd);
}

TEST_F(a_configuration, starts_each_entry_from_the_default) {
  ASSERT_EQ(read(R"(troupe.links { "unix://@a" { credentials.secret = "of a" }
                    accepted { allow-tasks = true }
                    default { window-bytes = "1 MiB", credentials { secret = "of all", cookie-file = "c" } } })"),
            "");
  EXPECT_EQ(link("unix://@a").window_bytes, 1_MiB);
  EXPECT_EQ(link("unix://@a").credentials.secret, "of a");
  EXPECT_EQ(link("unix://@a").credentials.cookie_file, "c");
  EXPECT_FALSE(link("unix://@a").allow_tasks);
  EXPECT_EQ(node().accepted_links.window_bytes, 1_MiB);
  EXPECT_EQ(node().accepted_links.credentials.secret, "of all");
  EXPECT_TRUE(node().accepted_links.allow_tasks);
}

TEST_F(a_configuration, completes_what_the_program_has_set) {
  ASSERT_EQ(read(R"(troupe.links.default { spill-bytes = 1 window-bytes = 5 credentials.secret-file = "theirs"
                                          receive-limits { depth = 7 frames = 8 } reconnect.jitter = 0 }
                    troupe.node { name = "file" io-threads = 3 store { name = "theirs" } })"),
            "");
  // An option counts as set even if its value equals the default.
  const auto link = *config_.link_options_for("unix://@x", families_, {.spill_bytes = *link_options{}.spill_bytes});
  EXPECT_EQ(link.spill_bytes, link_options{}.spill_bytes);
  EXPECT_EQ(link.window_bytes, 5u);
  EXPECT_EQ(link.credentials.secret_file, "theirs");
  EXPECT_EQ(link.receive_limits.frames, 8u);
  // A group counts as one option.
  const auto grouped = *config_.link_options_for(
      "unix://@x", families_, {.credentials = {.secret = "our own, long enough"}, .receive_limits = {.depth = 9}});
  EXPECT_EQ(grouped.credentials.secret_file, "");
  EXPECT_EQ(grouped.receive_limits.depth, 9u);
  EXPECT_EQ(grouped.receive_limits.frames, limits{}.frames);
  EXPECT_EQ(config_.reconnect_policy_for("unix://@x", {.growth = 3}).jitter, 0);
  EXPECT_EQ(config_.reconnect_policy_for("unix://@x", {.growth = 3}).growth, 3);
  EXPECT_EQ((*config_.node_options_with(families_, {.store = store::options{.name = "ours"}}).value().store)->name,
            "ours");
  EXPECT_FALSE(*config_.node_options_with(families_, {.store = std::nullopt}).value().store);
  EXPECT_EQ((*config_.node_options_with(families_, {.name = "code"}).value().store)->name, "theirs");
  EXPECT_EQ(config_.node_options_with(families_, {.name = "code"}).value().io_threads, 3u);
}

TEST_F(a_configuration, has_a_group_for_reconnecting) {
  ASSERT_EQ(read(R"(troupe.links { default { reconnect { kind = "none" first-pause = 3ms } }
                    "unix://@a" { reconnect { kind = "back-off" growth = 1.5 attempts-max = 7 } } })"),
            "");
  auto policy = config_.reconnect_policy_for("unix://@a");
  EXPECT_EQ(policy.kind, reconnect::back_off);
  EXPECT_EQ(policy.first_pause, 3ms);
  EXPECT_EQ(policy.growth, 1.5);
  EXPECT_EQ(policy.attempts_max, 7u);
  EXPECT_EQ(config_.reconnect_policy_for("unix://@b").kind, reconnect::none);
}

TEST_F(a_configuration, names_the_place_and_the_known_ones_for_an_unknown_key) {
  EXPECT_TRUE(read("\ntroupe {\n links {\n default {\n spil-bytes = 1 } } }")
                  .starts_with("configuration:5: troupe.links.default has no \"spil-bytes\"; did you mean "
                               "\"spill-bytes\"? Known: serializers, deserializers, spill-bytes, "));
  EXPECT_EQ(read("troupe.nod.name = \"x\""),
            "configuration:1: troupe has no \"nod\"; did you mean \"node\"? Known: links, node");
  EXPECT_EQ(
      read("troupe.links.defualt { }"),
      "configuration:1: troupe.links has no \"defualt\"; did you mean \"default\"? Known: default, accepted, or a "
      "peer's address in double quotes");
  EXPECT_EQ(
      read("troupe.links.default.credentials {\n tls { keyfile = \"x\" } }"),
      "configuration:2: troupe.links.default.credentials.tls has no \"keyfile\"; did you mean \"key-file\"? Known: "
      "certificate-file, key-file, authority-file, require-client-certificate, server-name");
  EXPECT_EQ(read("", {"--troupe.node.nmae=x"}).substr(0, 77),
            "command line: --troupe.node.nmae: troupe.node has no \"nmae\"; did you mean \"na");
  EXPECT_TRUE(
      contains(read("troupe.links.\"tpc://a:1\" { }"), "configuration:1: address \"tpc://a:1\" is not supported"));
  EXPECT_TRUE(contains(read("troupe.links.default.qqqqqqqq = 1"), "has no \"qqqqqqqq\"; known: serializers"));
  EXPECT_TRUE(contains(read("troupe.node.name.first = \"x\""), "troupe.node.name is an option, not a group"));
  EXPECT_TRUE(contains(read("troupe.node.store = false"), "troupe.node.store is a group"));
  EXPECT_TRUE(contains(read("troupe = 3"), "troupe is a group"));
  EXPECT_TRUE(contains(read("troupe.links = 3"), "troupe.links is a group"));
}

TEST_F(a_configuration, refuses_values_of_another_type_or_out_of_range) {
  auto refusal = [this](const std::string& setting) { return read("\ntroupe.links.default." + setting); };
  EXPECT_EQ(
      refusal("spill-bytes = \"64 KB\""),
      "configuration:2: troupe.links.default.spill-bytes expects a number of bytes such as 65536 or \"64 KiB\" (B, "
      "KiB, MiB, GiB, TiB), less than 2^63, got \"64 KB\"");
  EXPECT_TRUE(contains(refusal("spill-bytes = -1"), "got -1"));
  EXPECT_TRUE(contains(refusal("spill-bytes = 99999999999999999999"), "less than 2^63"));
  EXPECT_TRUE(contains(refusal("spill-bytes = \"9999999 TiB\""), "less than 2^63"));
  EXPECT_TRUE(contains(refusal("spill-bytes = 1.5"), "expects a number of bytes"));
  EXPECT_TRUE(contains(refusal("spill-bytes = [1]"), "got a list"));
  EXPECT_TRUE(contains(refusal("spill-bytes { }"), "got a group"));
  EXPECT_TRUE(contains(refusal("window-bytes = 0"), "window-bytes is at least 1, got 0"));
  EXPECT_TRUE(contains(refusal("serializers = \"json\""), "expects a list of texts"));
  EXPECT_TRUE(contains(refusal("serializers = [json]"), "expects a list of texts"));
  EXPECT_TRUE(contains(refusal("compression = \"lz5\""), "got \"lz5\"; did you mean \"lz4\"?"));
  EXPECT_TRUE(
      contains(refusal("compression = lz4"), "expects one of \"none\", \"lz4\", \"zstd\", \"automatic\", got lz4"));
  EXPECT_TRUE(contains(refusal("allow-tasks = 1"), "expects true or false, got 1"));
  EXPECT_TRUE(contains(refusal("share-store = \"yes\""), "expects true, false or \"automatic\""));
  EXPECT_TRUE(contains(refusal("connect-timeout = 5"), "expects a duration"));
  EXPECT_TRUE(contains(refusal("connect-timeout = 1500us"), "of whole milliseconds"));
  EXPECT_TRUE(contains(refusal("connect-timeout = 0s"), "connect-timeout is from 1ms to "));
  EXPECT_TRUE(contains(refusal("connect-timeout = 2000000h"), "connect-timeout is from 1ms to "));
  EXPECT_TRUE(contains(refusal("connect-timeout = 99999999999h"), "expects a duration"));
  EXPECT_TRUE(contains(refusal("receive-limits.depth = \"9\""), "expects a whole number, got a text in quotes"));
  EXPECT_TRUE(contains(refusal("receive-limits.depth = -9"), "is from 0 to "));
  EXPECT_TRUE(contains(refusal("reconnect.jitter = 1.5"), "reconnect.jitter is from 0 to 1, got 1.5"));
  EXPECT_TRUE(contains(refusal("reconnect.attempts-max = 0"), "is at least 1, got 0"));
  EXPECT_TRUE(contains(read("troupe.node.listen = [\"unix:@a\"]"), "configuration:1: troupe.node.listen: address"));
  EXPECT_TRUE(contains(read("troupe.node.store.objects-max = 2097153"), "is from 0 to 2,097,152, got 2097153"));
  EXPECT_TRUE(contains(read("troupe.node.store.objects-max = 4294967296"), "is from 0 to 4,294,967,295"));
}

TEST_F(a_configuration, takes_no_text_for_a_switch) {
  EXPECT_TRUE(contains(read("", {"--troupe.node.name", "pantry"}), "troupe.node.name needs a value"));
  EXPECT_EQ(read("", {"--troupe.links.default.allow-tasks"}), "");
  EXPECT_TRUE(link("unix://@a").allow_tasks);
}

TEST_F(a_configuration, never_repeats_a_secret) {
  for (const auto& error : {read("troupe.links.default.credentials.secret = [\"hush hush hush!\"]"),
                            read("troupe.links.default.credentials.secret = hush-hush-hush-hush"),
                            read("troupe.links.default.allow-tasks = \"hush hush hush!\""),
                            read("", {"--troupe.links.default.credentials.secrt=hush hush hush!"})}) {
    EXPECT_NE(error, "");
    EXPECT_FALSE(contains(error, "hush")) << error;
  }
}

TEST_F(a_configuration, reads_values_in_all_their_forms) {
  ASSERT_EQ(read(R"(troupe.links.default { spill-bytes = 64KiB offload-bytes = 0x10 window-bytes = "3MiB"
                      queue-bytes = "1 TiB" message-bytes = "7 B" connect-timeout = 2min block-timeout = 0ms
                      heartbeat-interval = 1500ms heartbeat-timeout = 1h share-store = "automatic"
                      when-full = "drop-oldest" receive-limits.depth = 12
                      reconnect { jitter = 1 attempts-max = "unlimited" }
                      credentials.secret = "a\"b\\c" }
                    troupe.node { listen = [ "unix://@a", ; first
                                             "unix://@b", ] store.directory = "/tmp/x" })"),
            "");
  auto options = link("unix://@x");
  EXPECT_EQ(options.spill_bytes, 64_KiB);
  EXPECT_EQ(options.offload_bytes, 16u);
  EXPECT_EQ(options.window_bytes, 3_MiB);
  EXPECT_EQ(options.queue_bytes, 1024_GiB);
  EXPECT_EQ(options.message_bytes, 7u);
  EXPECT_EQ(options.connect_timeout, 2min);
  EXPECT_EQ(options.block_timeout, 0ms);
  EXPECT_EQ(options.heartbeat_interval, 1500ms);
  EXPECT_EQ(options.heartbeat_timeout, 1h);
  EXPECT_EQ(options.share_store, std::nullopt);
  EXPECT_EQ(options.when_full, when_full::drop_oldest);
  EXPECT_EQ(options.receive_limits.depth, 12u);
  EXPECT_EQ(options.credentials.secret, "a\"b\\c");
  EXPECT_EQ(config_.reconnect_policy_for("unix://@x").jitter, 1);
  EXPECT_EQ(node().listen, (std::vector<std::string>{"unix://@a", "unix://@b"}));
  EXPECT_EQ((*node().store)->directory, "/tmp/x");
}

TEST_F(a_configuration, refuses_what_is_no_configuration) {
  EXPECT_TRUE(contains(read("troupe {\n node { name = \"a\" }\n"), "configuration:1: a group has a { without its }"));
  EXPECT_TRUE(contains(read("\ntroupe.node.name = \"a\n"), "configuration:2: a text that begins with \" does not end"));
  EXPECT_TRUE(contains(read("troupe.node.listen = [\"a\" \"b\"]"), "expected , or ] in a list, found \"\"\""));
  EXPECT_TRUE(contains(read("troupe.node.listen = [\"a\""), "a list has a [ without its ]"));
  EXPECT_TRUE(contains(read("troupe.node name = 1"), "expected = or { after the key \"node\", found \"n\""));
  EXPECT_TRUE(contains(read("troupe..node = 1"), "expected a key"));
  EXPECT_TRUE(contains(read("troupe.node.name ="), "expected a value, found the end"));
  EXPECT_TRUE(contains(read("troupe.node.name = \"\\q\""), "cannot be read"));
  EXPECT_TRUE(contains(read("[troupe.node\nname = 1"), "expected the ] of a section's name"));
  EXPECT_TRUE(contains(read("[scheduler]\ntroupe.node.name = \"a\""), "configuration:2: troupe is in section"));
  EXPECT_TRUE(contains(read("troupe.node.name = \"a\"\n\ntroupe { node { name = \"b\" } }"),
                       "configuration:3: troupe.node.name is already set in line 1"));
  EXPECT_TRUE(contains(read("a = " + std::string(10'000, '[')), "braces and brackets are nested more than 64 deep"));
  EXPECT_TRUE(contains(read("", {"--troupe.node.listen=[\"a\"] x"}), "unexpected text after the value"));
  EXPECT_TRUE(contains(read("", {"--troupe.node.name:x"}), "expected = and a value after the option"));
}

TEST_F(a_configuration, refuses_hostile_input_with_its_place) {
  EXPECT_EQ(read(std::string(10 << 20, '\n')), "configuration has more than 1,048,576 bytes");
  EXPECT_EQ(read("troupe.node.name = \"" + std::string(10 << 20, 'a') + '"'),
            "configuration has more than 1,048,576 bytes");
  constexpr int depth = 100'000;
  const auto nested = [](const std::string& part) {
    std::string text;
    for (int i = 0; i < depth; ++i)
      text += part;
    return text;
  };
  for (const auto& text :
       {nested("troupe{"), "troupe.node.listen = " + nested("["), nested("a = {\n"), "a=" + nested("[")})
    EXPECT_TRUE(contains(read(text), "braces and brackets are nested more than 64 deep")) << text.substr(0, 20);
  EXPECT_TRUE(contains(read("troupe.node." + nested("a.") + "b = 1"), "configuration:1: troupe.node has no \"a\""));
  EXPECT_TRUE(contains(read("\ntroupe.\xff = 1"), "configuration:2: expected a key of letters"));
  EXPECT_TRUE(contains(read("\ntroupe.\"\xff\" = 1"), "configuration:2: troupe has no \"?\"; known: links, node"));
  EXPECT_TRUE(contains(read("troupe.links.default.compression = \"\xff\""), "got \"?\""));
}

TEST_F(a_configuration, keeps_the_bytes_of_a_text) {
  ASSERT_EQ(read("troupe.node { name = \"caf\xc3\xa9\" store.directory = \"/dev/shm/\xff\" } ; \xff"), "");
  EXPECT_EQ(node().name, "caf\xc3\xa9");
  EXPECT_EQ((*node().store)->directory, "/dev/shm/\xff"); // A path needs not be UTF-8.
}

TEST_F(a_configuration, refuses_a_key_that_is_set_twice_however_it_is_written) {
  for (const auto* text :
       {"troupe.node { name = \"a\"\nname = \"b\" }", "troupe.node { name = \"a\" }\ntroupe.node { name = \"b\" }",
        "[troupe.node]\nname = \"a\" [troupe]\nnode.name = \"b\""})
    EXPECT_TRUE(contains(read(text), ": troupe.node.name is already set in line ")) << read(text);
  EXPECT_TRUE(
      contains(read("troupe.links.\"unix://@a\".spill-bytes = 1\ntroupe.links { \"unix://@a\" { spill-bytes = 1 } }"),
               "configuration:2: troupe.links.\"unix://@a\".spill-bytes is already set in line 1"));
  EXPECT_EQ(read("troupe.node { name = \"a\" }\ntroupe.node { io-threads = 2 }"), "") << "two groups of one name";
  EXPECT_EQ(node().name, "a");
  EXPECT_EQ(node().io_threads, 2u);
}

// Goal: the time to check all families of a file does not grow with the square of its size.
TEST_F(a_configuration, of_the_largest_size_is_checked_in_a_moment) {
  std::string text = "troupe.links {\n";
  for (int i = 0; text.size() + 100 < internal::config_text_bytes_max; ++i)
    text += "\"unix://@" + std::to_string(i) + "\" { serializers = [\"json\"] }\n";
  const auto start = std::chrono::steady_clock::now();
  ASSERT_EQ(read(text + "}\n"), "");
  EXPECT_EQ(link("unix://@7").serializers, std::vector<std::string>{"json"});
  EXPECT_EQ(node().name, node_options{}.name);
  EXPECT_LT(std::chrono::steady_clock::now() - start, 30s);
}

// Method: changes, removes or doubles a few bytes of the example; the seed is the number of the round.
TEST_F(a_configuration, of_any_bytes_is_read_or_refused_with_its_place) {
  int refused = 0;
  constexpr int rounds = 3000;
  for (int seed = 0; seed < rounds; ++seed) {
    std::mt19937 random(static_cast<unsigned>(seed));
    std::string text = example;
    for (int changes = 1 + static_cast<int>(random() % 4); changes > 0; --changes) {
      auto at = random() % text.size();
      constexpr std::string_view telling = "{}[]\"'=.,;#<>\\\n\r\t -_0aZ\xff";
      if (auto kind = random() % 3; kind == 0)
        text[at] = telling[random() % telling.size()];
      else if (kind == 1)
        text.erase(at, 1 + random() % 5);
      else
        text.insert(at, text.substr(at, random() % 20));
    }
    auto scanned = internal::read_config_text(text, "file");
    if (scanned) {
      EXPECT_EQ(scanned->rest.size(), text.size()) << seed;
      EXPECT_EQ(std::ranges::count(scanned->rest, '\n'), std::ranges::count(text, '\n')) << seed;
      if (auto made = configuration::make(std::move(scanned->items)); !made) {
        ++refused;
        EXPECT_TRUE(made.error().message().starts_with("file:")) << seed << ' ' << made.error().message();
      }
    } else {
      ++refused;
      EXPECT_TRUE(scanned.error().message().starts_with("file:")) << seed << ' ' << scanned.error().message();
    }
  }
  EXPECT_GT(refused, rounds / 4);
  EXPECT_LT(refused, rounds);
}

TEST_F(a_configuration, is_read_from_the_file_that_the_command_line_names) {
  auto path = testing::TempDir() + unique_name("troupe-configuration");
  std::ofstream{path} << "troupe.node.name = \"from a file\"\ntroupe.node.store.enabled = 3\n";
  auto error = config_.parse({"--config-file=" + path}, "missing.ini");
  EXPECT_EQ(troupe::text_of(error), path + ":2: troupe.node.store.enabled expects true or false, got 3");
  std::ofstream{path} << "troupe.node.name = \"from a file\"\n";
  EXPECT_FALSE(config_.parse({"--config-file=" + path}));
  EXPECT_EQ(node().name, "from a file");
  ::unlink(path.c_str());
  EXPECT_EQ(troupe::text_of(config_.parse({"--config-file=" + path})),
            "the configuration file of --config-file \"" + path
                + "\" cannot be read: No such file or directory (looked for " + path + ")");
}

// Goal: a program whose options have no effect, because its file is elsewhere, says so at once. As in CAF, the file may
// be missing.
TEST_F(a_configuration, that_is_missing_is_one_line_in_the_log_that_says_where_it_was_looked_for) {
  const auto name = unique_name("troupe-configuration") + ".ini";
  const auto text = [&](const std::string& of) {
    return "\"" + of + "\" cannot be read: No such file or directory (looked for "
           + (std::filesystem::current_path() / of).string() + "); its options keep their defaults";
  };
  log_lines log{log_level::info};
  EXPECT_FALSE(config_.parse({}, name.c_str()));
  EXPECT_EQ(log.all(),
            std::vector<std::string>{"warning: the configuration file that the program names " + text(name)});
  system_config unnamed;
  EXPECT_FALSE(unnamed.parse({}));
  EXPECT_EQ(log.all().back(), "info: the configuration file " + text("caf-application.ini"));
  EXPECT_EQ(log.all().size(), 2u);
}

TEST_F(a_configuration, that_bypassed_its_own_parser_is_refused_when_it_is_used) {
  std::istringstream file{"troupe { node { name = \"a\" } }\n"};
  ASSERT_FALSE(static_cast<caf::actor_system_config&>(config_).parse({}, file));
  EXPECT_TRUE(contains(config_.node_options_with(families_).error().message(), "call parse of troupe::system_config"));
}

TEST_F(a_configuration, warns_of_a_group_that_is_nearly_called_troupe) {
  const log_lines lines{log_level::warning};
  ASSERT_EQ(read("truope { node { name = \"kitchen\" } }\nscheduler { max-threads = 2 }\nmine { x = 1 }"), "");
  EXPECT_EQ(lines.with("has an unknown group \"truope\"; did you mean \"troupe\"?"), 1u) << lines.text();
  EXPECT_EQ(lines.with("has an unknown group"), 1u) << lines.text();
}

TEST_F(a_configuration, with_an_unknown_family_is_refused_with_its_place_and_the_known_ones) {
  ASSERT_EQ(read("troupe.links {\n default { }\n \"unix://@a\" { deserializers = [\"typed\",\n \"jsn\"] } }"), "");
  const auto expected =
      "configuration:3: troupe.links.\"unix://@a\".deserializers names the family \"jsn\", which this "
      "node does not have; did you mean \"json\"? Known: typed, msgpack, json";
  EXPECT_EQ(config_.node_options_with(families_).error().message(), expected);
  EXPECT_EQ(config_.link_options_for("unix://@a", families_).error().message(), expected);
  EXPECT_TRUE(config_.link_options_for("unix://@b", families_));
  // A list that is replaced by another one causes no error.
  ASSERT_EQ(read("troupe.links { default { serializers = [\"jsn\"] } \"unix://@a\" { serializers = [\"json\"] } }"),
            "");
  EXPECT_TRUE(config_.link_options_for("unix://@a", families_));
  EXPECT_FALSE(config_.link_options_for("unix://@b", families_));
  ASSERT_EQ(read("troupe.node.store-families = [\"x\"]", {"--troupe.node.store-families=[\"json\"]"}), "");
  EXPECT_TRUE(config_.node_options_with(families_)) << config_.node_options_with(families_).error().message();
  ASSERT_EQ(read("troupe.node.store-families = [\"x\"]"), "");
  EXPECT_TRUE(contains(config_.node_options_with(families_).error().message(), "troupe.node.store-families names"));
}

// Goal: nodes and links opened without options in code use the configuration.
TEST(a_configured_node, opens_and_connects_by_its_configuration) {
  const auto address = "unix://@" + unique_name("configured");
  type_registry types;
  family_set families;
  system_config far_config, near_config;
  std::istringstream far_file{"troupe { node { name = \"far\" store.enabled = false listen = [\"" + address
                              + "\"] } links.accepted.serializers = [\"json\", \"typed\"] }"};
  std::istringstream near_file{"troupe { node { name = \"near\" store.enabled = false } links { \"" + address
                               + "\" { serializers = [\"json\"] } } }"};
  ASSERT_FALSE(far_config.parse({}, far_file));
  ASSERT_FALSE(near_config.parse({}, near_file));
  caf::actor_system far_system{far_config}, near_system{near_config};
  auto far = node::open(far_system, types, families);
  ASSERT_TRUE(far) << far.error().message();
  auto near = node::open(near_system, types, families);
  ASSERT_TRUE(near) << near.error().message();
  auto configured = near->connect(address);
  ASSERT_TRUE(configured) << configured.error().message();
  EXPECT_EQ(configured->peer_name(), "far");
  EXPECT_EQ(configured->serializers(), std::vector<std::string>{"json"});
  // An option that is set in code wins. If no option is set, the configuration applies.
  auto by_code = near->connect(address, {.serializers = {"typed"}});
  ASSERT_TRUE(by_code) << by_code.error().message();
  EXPECT_EQ(by_code->serializers(), std::vector<std::string>{"typed"});
  auto without = near->connect(address, {});
  ASSERT_TRUE(without) << without.error().message();
  EXPECT_EQ(without->serializers(), std::vector<std::string>{"json"});
}

// Goal: if a program sets a few options itself, all others still come from its user's file.
TEST(a_configured_node, takes_each_option_that_the_program_leaves_unset_from_its_configuration) {
  const auto address = "unix://@" + unique_name("mixed");
  type_registry types;
  family_set families;
  system_config config;
  std::istringstream file{"troupe { node { name = \"file\" store.enabled = false listen = [\"" + address
                          + "\"] } links { accepted { serializers = [\"json\"] } "
                            "default { serializers = [\"msgpack\", \"json\"] compression = \"lz4\" } } }"};
  ASSERT_FALSE(config.parse({}, file));
  caf::actor_system system{config};
  auto home =
      node::open(system, types, families, {.name = "code", .accepted_links = {.deserializers = {"json", "msgpack"}}});
  ASSERT_TRUE(home) << home.error().message();
  EXPECT_EQ(home->name(), "code");
  EXPECT_EQ(home->store(), nullptr);
  EXPECT_EQ(home->addresses(), std::vector{address});
  caf::actor_system other_system{config};
  auto other = node::open(other_system, types, families, {.name = "other", .listen = std::vector<std::string>{}});
  ASSERT_TRUE(other) << other.error().message();
  EXPECT_TRUE(other->addresses().empty());
  auto link = other->connect(address, {.compression = compression::zstd});
  ASSERT_TRUE(link) << link.error().message();
  EXPECT_EQ(link->serializers(), (std::vector<std::string>{"msgpack", "json"}));
  EXPECT_EQ(link->compression(), compression::zstd);
  EXPECT_EQ(link->peer_address(), address);
  ASSERT_TRUE(eventually([&] { return home->links().size() == 1; }));
  EXPECT_EQ(home->links()[0].serializers(), std::vector<std::string>{"json"});
}

/// Opens a node with this configuration. Returns the error's text, or an empty string.
std::string error_with(const std::string& text) {
  type_registry types;
  family_set families;
  families.add(std::make_unique<cereal_family>());
  system_config config;
  std::istringstream file{text};
  if (auto error = config.parse({}, file))
    return troupe::text_of(error);
  caf::actor_system system{config};
  auto opened = node::open(system, types, families);
  return opened ? std::string{} : opened.error().message();
}

TEST(a_configured_node, does_not_open_with_an_entry_that_could_make_no_link) {
  EXPECT_EQ(
      error_with("troupe.node.store.enabled = false\n\ntroupe.links.\"unix://@a\" { serializers = [\"cereal\"] }\n")
          .substr(0, 70),
      "configuration:3: troupe.links.\"unix://@a\": family cereal trusts its in");
  EXPECT_TRUE(error_with("troupe.links.default.heartbeat-timeout = 1s").starts_with("configuration:1: troupe.links"));
  EXPECT_TRUE(error_with("\ntroupe.node.store.name = \"no name\"").ends_with("begins at configuration:2)"));
  EXPECT_EQ(error_with("troupe.node.store.enabled = false"), "");
}

constexpr std::string_view good_secret = "0123456789abcdef0123456789abcdef";

/// Opens a node whose link entry has these credentials. Returns the error's text, or an empty string.
std::string error_with_credentials(const std::string& entry, const std::string& credentials) {
  return error_with("troupe.node.store.enabled = false\ntroupe.links.\"" + entry + "\".credentials { " + credentials
                    + " }\n");
}

// Goal: wrong credentials fail when the program starts, not when a peer connects, perhaps a day later.
TEST(a_configured_node, does_not_open_with_credentials_that_no_link_could_use) {
  const auto both = "secret = \"" + std::string{good_secret} + "\" secret-file = \"/etc/hostname\"";
  for (const std::string entry : {"default", "accepted", "tcp://10.0.0.2:7001", "tls://kitchen.example:7001"}) {
    const auto fails = [&](const std::string& credentials, const std::string& why) {
      const auto text = error_with_credentials(entry, credentials);
      EXPECT_TRUE(text.starts_with("configuration:2: troupe.links.")) << text;
      EXPECT_NE(text.find(entry), std::string::npos) << text;
      EXPECT_NE(text.find(why), std::string::npos) << text;
    };
    fails("secret = \"short\"", "credentials.secret has 5 bytes, minimum 16");
    fails(both, "credentials.secret and credentials.secret_file are both set");
    fails("secret-file = \"/nowhere/secret\"", "\"/nowhere/secret\" cannot be read: No such file");
    if (entry.starts_with("tcp"))
      continue;
    fails("tls { authority-file = \"/nowhere/ca\" }", "authority_file \"/nowhere/ca\" cannot be read");
    fails("tls { certificate-file = \"/nowhere/c\" }", "certificate_file and key_file belong together");
  }
  EXPECT_NE(error_with_credentials("accepted", "tls.require-client-certificate = true").find("authority_file"),
            std::string::npos);
  EXPECT_NE(error_with_credentials("tcp://10.0.0.2:7001", "cookie-file = \"c\"").find("is not on this host"),
            std::string::npos);
}

TEST(a_configured_node, does_not_open_with_credentials_that_an_address_never_uses) {
  const auto secret = "secret = \"" + std::string{good_secret} + '"';
  EXPECT_NE(error_with_credentials("unix://@a", secret).find("credentials.secret has no effect at a unix socket"),
            std::string::npos);
  EXPECT_NE(error_with_credentials("inproc://a", "cookie-file = \"c\"").find("has no effect within a process"),
            std::string::npos);
  EXPECT_NE(error_with_credentials("tcp://[::1]:7", "tls.server-name = \"x\"").find("use tls:// for encrypted"),
            std::string::npos);
  EXPECT_NE(error_with_credentials("tls://a:7", "tls.require-client-certificate = true").find("set it in accepted"),
            std::string::npos);
}

TEST(a_configured_node, opens_with_credentials_for_all_of_which_some_addresses_use_none) {
  const auto secret = "credentials.secret = \"" + std::string{good_secret} + '"';
  EXPECT_EQ(error_with("troupe.node.store.enabled = false\ntroupe.links { default { " + secret
                       + " } \"unix://@a\" { } \"tcp://10.0.0.2:7\" { } \"tls://a.example:7\" { } }"),
            "");
}

// Goal: a forgotten description causes a warning when the program starts, not at its first message. It is no error,
// because the program may register a serializer later.
TEST(a_node, warns_of_a_registered_type_that_cannot_travel) {
  type_registry types;
  types.add<with_undescribed>("test.with_undescribed");
  family_set families;
  system_config config;
  caf::actor_system system{config};
  log_lines log{log_level::warning};
  const auto opened = node::open(system, types, families, {.store = std::nullopt});
  ASSERT_TRUE(opened) << opened.error().message();
  EXPECT_THAT(log.text(), testing::HasSubstr("type \"test.with_undescribed\" is registered, but no family of this node "
                                             "can carry it: "));
  EXPECT_THAT(log.text(), testing::HasSubstr("inside"));
}

TEST(a_node, refuses_times_below_zero) {
  type_registry types;
  const family_set families;
  system_config config;
  caf::actor_system system{config};
  const auto error_of = [&](node_options options) {
    options.store = std::nullopt;
    const auto opened = node::open(system, types, families, options);
    return opened ? "" : to_string(opened.error().code()) + ": " + opened.error().message();
  };
  EXPECT_EQ(error_of({.handle_grace = -1s}), "bad_option: handle_grace is -1000 ms; the minimum is 0");
  EXPECT_EQ(error_of({.drain_timeout = -1ms}), "bad_option: drain_timeout is -1 ms; the minimum is 0");
  EXPECT_TRUE(error_of({.accepted_links = {.connect_timeout = -1s}}).starts_with("bad_option: connect_timeout"));
  EXPECT_TRUE(error_of({.accepted_links = {.block_timeout = -1s}}).starts_with("bad_option: block_timeout"));
  auto open = node::open(system, types, families, {.store = std::nullopt});
  ASSERT_TRUE(open) << open.error().message();
  const auto refused = open->connect("tcp://localhost:1", {.connect_timeout = -1s});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), node_errc::bad_option) << refused.error().message();
}

TEST(a_node, takes_times_as_long_as_chrono_has) {
  constexpr auto for_ever = std::chrono::milliseconds::max();
  const link_options options{.connect_timeout = for_ever,
                             .block_timeout = for_ever,
                             .heartbeat_interval = for_ever,
                             .heartbeat_timeout = for_ever};
  tests::side far{{.name = "far",
                   .listen = {"inproc://for_ever"},
                   .accepted_links = options,
                   .store = std::nullopt,
                   .handle_grace = for_ever,
                   .drain_timeout = for_ever}};
  tests::side near{{.name = "near", .store = std::nullopt, .drain_timeout = for_ever}};
  auto link = near.home->connect("inproc://for_ever", options);
  ASSERT_TRUE(link) << link.error().message();
  EXPECT_TRUE(link->ping(for_ever));
  EXPECT_TRUE(link->reconfigure({}, for_ever));
  EXPECT_EQ(link->find("nobody", 0s).error().code(), node_errc::not_found);
  EXPECT_EQ(link->report(for_ever, {}).error().code(), node_errc::not_allowed);
  EXPECT_TRUE(link->is_open());
}

TEST(a_node, refuses_limits_by_which_no_peer_could_be_heard) {
  type_registry types;
  const family_set families;
  system_config config;
  caf::actor_system system{config};
  const auto opened =
      node::open(system, types, families, {.accepted_links = {.receive_limits = {.depth = 0}}, .store = std::nullopt});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().message(),
            "receive_limits.depth is 0, so that the handshake could not be read; set at least 1");
}

/// Returns the keys and defaults below a heading of framework/options.md.
std::vector<std::pair<std::string, std::string>> documented(const std::string& heading) {
  std::ifstream file{TROUPE_OPTIONS_DOCUMENT};
  EXPECT_TRUE(file.is_open());
  std::vector<std::pair<std::string, std::string>> rows;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("## "))
      inside = line == "## " + heading;
    if (!inside || !line.starts_with("| `"))
      continue;
    auto end = line.find("` | `");
    auto next = line.find("` |", end + 5);
    rows.emplace_back(line.substr(3, end - 3), line.substr(end + 5, next - end - 5));
    EXPECT_GT(line.size(), next + 20) << line << " says nothing about its cost";
  }
  return rows;
}

template <class Entry>
std::vector<std::pair<std::string, std::string>> in_code(std::span<const internal::option_row<Entry>> rows) {
  std::vector<std::pair<std::string, std::string>> result;
  for (const auto& row : rows)
    result.emplace_back(row.key, row.show(Entry{}));
  return result;
}

TEST(the_documented_options, are_those_of_the_code_with_their_defaults) {
  EXPECT_EQ(documented("Links"), in_code(internal::link_rows()));
  EXPECT_EQ(documented("Roles"), in_code(internal::role_rows()));
  EXPECT_EQ(documented("Nodes"), in_code(internal::node_rows()));
}

/// Returns a value that differs from the default and has its form.
internal::config_value other_than(const std::string& shown) {
  using shape = internal::config_value::shape;
  internal::config_value value{.text = {}, .elements = {}};
  if (shown == "true" || shown == "false")
    value.text = shown == "true" ? "false" : "true";
  else if (shown.starts_with('['))
    value = {.form = shape::list, .text = {}, .elements = {{.form = shape::text, .text = "json", .elements = {}}}};
  else if (shown == "\"automatic\"")
    value.text = "false";
  else if (shown == "\"unlimited\"")
    value.text = "3";
  else if (shown == "\"adaptive\"")
    value = {.form = shape::text, .text = "poll", .elements = {}};
  else if (shown == "\"back-off\"" || shown == "\"none\"" || shown == "\"lz4\"" || shown == "\"fail\"")
    value = {.form = shape::text,
             .text = shown == "\"back-off\""                     ? "none"
                     : shown == "\"none\"" || shown == "\"lz4\"" ? "zstd"
                                                                 : "drop-oldest",
             .elements = {}};
  else if (shown.ends_with("iB\"") || shown == "0")
    value.text = "12345";
  else if (shown.starts_with('"'))
    value = {.form = shape::text, .text = "elsewhere", .elements = {}};
  else if (shown.ends_with('s'))
    value.text = "77ms";
  else
    value.text = shown == "0.2" ? "0.5" : "99";
  return value;
}

// Goal: no two keys set the same field, and each sets one.
template <class Entry>
void expect_each_sets_its_own(std::span<const internal::option_row<Entry>> rows) {
  for (const auto& row : rows) {
    Entry entry;
    auto other = other_than(row.show(entry));
    auto set = row.assign(other, row.range, entry);
    ASSERT_TRUE(set) << row.key << ' ' << set.error();
    for (const auto& any : rows)
      EXPECT_EQ(any.show(entry) != any.show(Entry{}), any.key == row.key) << row.key << " and " << any.key;
  }
}

TEST(the_table_of_options, has_each_field_once) {
  expect_each_sets_its_own(internal::link_rows());
  expect_each_sets_its_own(internal::role_rows());
  expect_each_sets_its_own(internal::node_rows());
}

TEST(a_near_name, is_one_letter_or_two_away) {
  EXPECT_EQ(internal::distance("spill", "spill"), 0u);
  EXPECT_EQ(internal::distance("spil", "spill"), 1u);
  EXPECT_EQ(internal::distance("nmae", "name"), 1u); // Swapped.
  EXPECT_EQ(internal::distance("", "abc"), 3u);
  const std::vector<std::string_view> known{"queue-bytes", "window-bytes"};
  EXPECT_EQ(internal::nearest("windowbytes", known), "window-bytes");
  EXPECT_EQ(internal::nearest("frames", known), "");
}

TEST(a_node, opens_without_a_store_that_the_host_does_not_let_it_have_unless_told_otherwise) {
  const log_lines lines{log_level::warning};
  auto options =
      node_options{.name = "bare", .store = store::options{.directory = "/dev/shm/" + unique_name("absent")}};
  {
    side bare{options};
    EXPECT_EQ(bare.home->store(), nullptr);
    EXPECT_EQ(lines.with("node bare has no store; large frames go through sockets: "), 1u) << lines.text();
    const auto ref = bare.home->put(array<double>{std::vector<double>(1'000, 1.5)});
    ASSERT_TRUE(ref) << ref.error().message();
    EXPECT_EQ(ref->get().value().size(), 1'000u);
  }
  type_registry types;
  const family_set families;
  system_config config;
  caf::actor_system system{config};
  options.store_required = true;
  const auto refused = node::open(system, types, families, options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), node_errc::bad_option);
  // An error that needs other options to fix is reported even if the store is not required.
  options.store_required = false;
  options.store = store::options{.name = "not a valid store name"};
  EXPECT_FALSE(node::open(system, types, families, options));
}

} // namespace
} // namespace troupe::tests
