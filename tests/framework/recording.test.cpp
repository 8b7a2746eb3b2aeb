// Links that are recorded: what is on the tape, and that the link does not notice.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <troupe/framework/tape.hpp>
#include <troupe/serializers/cereal/cereal_type.hpp>

#include "internal/tape/tape_support.hpp"
#include "two_nodes.hpp"

namespace troupe::tests {
namespace {

/// Carried by every family.
struct order {
  std::string dish;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(dish);
  }
};
TROUPE_DESCRIBE(order, dish)

caf::behavior echo(caf::event_based_actor* self) {
  self->set_default_handler(caf::drop);
  return {[](int x) { return x + 1; },
          [](const reading& x) { return x; },
          [](const order& x) { return x.dish.size(); },
          [](const std::string& x) { return x.size(); },
          [](const array<double>& x) { return x; },
          [](const object_ref<array<double>>&) { return 1; }};
}

/// What a tape says, sorted by kind.
struct tape_content {
  tape_info info;
  std::vector<tape_link> links;
  std::vector<tape_message> messages;
  std::vector<tape_drop> drops;
  std::vector<tape_link_end> ends;
  std::vector<tape_damage> damage;
  tape_end::state end = tape_end::state::cut;

  explicit tape_content(const std::string& file) {
    auto opened = tape::open(file);
    if (!opened)
      throw std::runtime_error(opened.error().message());
    while (auto event = opened->next())
      std::visit([this](auto& of) { keep(of); }, *event);
    info = opened->info();
  }

  /// The messages of that kind from that end.
  [[nodiscard]] std::vector<tape_message> of(tape_message_kind kind, tape_side writer) const {
    std::vector<tape_message> found;
    std::ranges::copy_if(messages, std::back_inserter(found),
                         [&](const auto& each) { return each.kind == kind && each.writer == writer; });
    return found;
  }

private:
  void keep(const tape_link& of) { links.push_back(of); }
  void keep(const tape_message& of) { messages.push_back(of); }
  void keep(const tape_drop& of) { drops.push_back(of); }
  void keep(const tape_link_end& of) { ends.push_back(of); }
  void keep(const tape_damage& of) { damage.push_back(of); }
  void keep(const tape_end& of) { end = of.how; }
};

class recording : public two_nodes {
protected:
  recording() {
    near_options_.store = std::nullopt;
    far_options_.store = std::nullopt;
  }

  link_options recorded(link_options options = {}) const {
    options.recording.file = file_;
    options.recording.compression = compression::none;
    return options;
  }

  /// Ends the recording node, and reads its tape.
  tape_content content() {
    link_.reset();
    near_.reset();
    return tape_content{file_};
  }

  static std::vector<double> many_doubles() { return std::vector<double>(100'000, 1.5); }

  const scratch_folder folder_;
  const std::string file_ = folder_.file("day.tape");
};

TEST_F(recording, has_requests_and_answers_with_names_types_and_values) {
  publish("echo", far().system.spawn(echo));
  connect(recorded());
  const auto there = find("echo");
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(ask<int>(near().system, there, i), i + 1);
  EXPECT_EQ(ask<reading>(near().system, there, reading{"roof", 21.5, {}}), (reading{"roof", 21.5, {}}));
  const auto tape = content();
  EXPECT_EQ(tape.info.node, "near");
  ASSERT_EQ(tape.links.size(), 1u);
  EXPECT_EQ(tape.links[0].recorder_name, "near");
  EXPECT_EQ(tape.links[0].peer_name, "far");
  EXPECT_EQ(tape.links[0].transport, "unix");
  EXPECT_EQ(tape.links[0].sends, (std::vector<std::string>{"typed", "msgpack"}));
  EXPECT_FALSE(tape.links[0].features.empty());
  EXPECT_EQ(tape.ends.size(), 1u);
  EXPECT_EQ(tape.end, tape_end::state::closed);
  EXPECT_TRUE(tape.drops.empty());
  EXPECT_TRUE(tape.damage.empty());
  const auto requests = tape.of(tape_message_kind::request, tape_side::recorder);
  const auto answers = tape.of(tape_message_kind::answer, tape_side::peer);
  ASSERT_EQ(requests.size(), 4u);
  ASSERT_EQ(answers.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(requests[i].to.name, "echo");
    EXPECT_EQ(answers[i].from.name, "echo");
    EXPECT_EQ(answers[i].answers, requests[i].number);
    EXPECT_EQ(answers[i].asked_at, requests[i].at);
    EXPECT_GE(answers[i].at, requests[i].at);
  }
  EXPECT_EQ(to_text(to_record(requests[2].elements.at(0)).value()), "2");
  EXPECT_EQ(to_text(to_record(answers[2].elements.at(0)).value()), "3");
  EXPECT_EQ(requests[3].elements.at(0).type, "test.reading");
  EXPECT_EQ(to_text(to_record(requests[3].elements.at(0)).value()),
            R"({"sensor", "roof", "celsius", 21.5, "samples", []})");
}

TEST_F(recording, has_the_families_that_the_ends_sent_with) {
  far_types_ = near_types_ = [](type_registry& types) { add_cereal<order>(types, "test.order"); };
  far_options_.accepted_links.serializers = {"msgpack", "typed"};
  far_options_.accepted_links.trusted_families = true;
  far_options_.accepted_links.deserializers = {"cereal", "typed", "msgpack", "json"};
  publish("echo", far().system.spawn(echo));
  for (const auto& [family, number] : {std::pair{"json", 1}, {"cereal", 2}}) {
    connect(recorded({.serializers = {family}, .deserializers = {"typed", "msgpack"}, .trusted_families = true}));
    EXPECT_TRUE(ask<std::size_t>(near().system, find("echo"), order{"soup"}));
    link_.reset();
  }
  const auto tape = content();
  EXPECT_EQ(tape.links.size(), 2u) << "a node's links with one place share one tape";
  const auto requests = tape.of(tape_message_kind::request, tape_side::recorder);
  const auto answers = tape.of(tape_message_kind::answer, tape_side::peer);
  ASSERT_EQ(requests.size(), 2u);
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_EQ(requests[0].elements.at(0).family, "json");
  EXPECT_EQ(requests[1].elements.at(0).family, "cereal");
  EXPECT_NE(requests[0].link, requests[1].link);
  EXPECT_EQ(answers[0].elements.at(0).family, "msgpack");
  EXPECT_TRUE(to_record(requests[0].elements.at(0)));
  EXPECT_FALSE(to_record(requests[1].elements.at(0)));
  const auto again = deserialize<order>(requests[1].elements.at(0).content, {.deserializers = {"cereal"}}, far().types,
                                        far().families);
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_EQ(again->dish, "soup") << "the program can read what the tape has";
}

TEST_F(recording, has_large_frames_that_travelled_in_chunks) {
  publish("echo", far().system.spawn(echo));
  connect(recorded());
  const auto values = many_doubles();
  EXPECT_TRUE(ask<array<double>>(near().system, find("echo"), array<double>(values)));
  const auto tape = content();
  for (const auto& each : {tape.of(tape_message_kind::request, tape_side::recorder),
                           tape.of(tape_message_kind::answer, tape_side::peer)}) {
    ASSERT_EQ(each.size(), 1u);
    const auto& element = each[0].elements.at(0);
    EXPECT_EQ(element.missing, "");
    EXPECT_TRUE(std::ranges::any_of(element.frames, [](const auto& frame) {
      return frame.place == tape_frame_place::chunks && frame.is_recorded && frame.size_bytes == 800'000;
    }));
    EXPECT_GT(each[0].wire_bytes, 800'000u);
    const auto back = to_record(element);
    ASSERT_TRUE(back) << back.error().message();
    const auto numbers = back->as_array<double>();
    ASSERT_TRUE(numbers);
    EXPECT_EQ(numbers->size(), values.size());
  }
}

TEST_F(recording, has_the_sizes_of_what_is_in_a_shared_store) {
  far_options_.store = near_options_.store = store::options{.name = store_, .capacity_bytes = 64_MiB};
  publish("echo", far().system.spawn(echo));
  connect(recorded());
  EXPECT_TRUE(ask<array<double>>(near().system, find("echo"), array<double>(many_doubles())));
  const auto ref = near().home->put(array<double>(many_doubles())).value();
  EXPECT_EQ(ask<int>(near().system, find("echo"), ref), 1);
  const auto requests = content().of(tape_message_kind::request, tape_side::recorder);
  ASSERT_EQ(requests.size(), 2u);
  const auto& element = requests[0].elements.at(0);
  EXPECT_TRUE(std::ranges::any_of(element.frames, [](const auto& frame) {
    return frame.place == tape_frame_place::store && !frame.is_recorded && frame.size_bytes == 800'000;
  }));
  EXPECT_NE(element.missing.find("in the store"), std::string::npos);
  EXPECT_LT(requests[0].wire_bytes, 1'000u);
  EXPECT_EQ(requests[1].elements.at(0).objects, 1u);
  EXPECT_EQ(requests[1].elements.at(0).missing, "");
}

class recording_of_objects : public recording {
protected:
  recording_of_objects() {
    far_options_.store = near_options_.store = store::options{.name = store_, .capacity_bytes = 64_MiB};
  }

  static link_options with_objects(link_options options, std::size_t bytes_max) {
    options.recording.object_bytes_max = bytes_max;
    options.recording.queue_bytes = 64_MiB; // So that none finds no room.
    return options;
  }
  /// Of 2.4 MB, so that a record cannot have all of it.
  static array<double> large_array() {
    std::vector<double> values(300'000);
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<double>(i);
    return array<double>(values);
  }
  void expect_large_array(const tape_message& of) {
    const auto& element = of.elements.at(0);
    EXPECT_EQ(element.missing, "");
    EXPECT_TRUE(std::ranges::any_of(element.frames, [](const auto& frame) {
      return frame.place == tape_frame_place::store && frame.is_recorded && frame.size_bytes == 2'400'000;
    }));
    const auto back = deserialize<array<double>>(element.content, {}, near_types_, families_);
    ASSERT_TRUE(back) << back.error().message();
    EXPECT_TRUE(std::ranges::equal(back->span(), large_array().span()));
  }

  const type_registry near_types_;
  const family_set families_;
};

TEST_F(recording_of_objects, has_the_bytes_of_frames_in_a_shared_store) {
  publish("echo", far().system.spawn(echo));
  connect(with_objects(recorded(), 4_MiB));
  for (int i = 0; i < 5; ++i)
    EXPECT_TRUE(ask<array<double>>(near().system, find("echo"), large_array()));
  const auto tape = content();
  EXPECT_TRUE(tape.damage.empty());
  const auto requests = tape.of(tape_message_kind::request, tape_side::recorder);
  const auto answers = tape.of(tape_message_kind::answer, tape_side::peer);
  ASSERT_EQ(requests.size(), 5u);
  ASSERT_EQ(answers.size(), 5u);
  for (int i = 0; i < 5; ++i) {
    expect_large_array(requests[i]);
    expect_large_array(answers[i]);
  }
}

TEST_F(recording_of_objects, has_the_bytes_of_objects_that_messages_mention) {
  publish("echo", far().system.spawn(echo));
  connect(with_objects(recorded(), 4_MiB));
  {
    const auto ref = near().home->put(large_array()).value();
    EXPECT_EQ(ask<int>(near().system, find("echo"), ref), 1);
  }
  const auto requests = content().of(tape_message_kind::request, tape_side::recorder);
  ASSERT_EQ(requests.size(), 1u);
  const auto& mentions = requests[0].elements.at(0).mentions;
  ASSERT_EQ(mentions.size(), 1u);
  EXPECT_TRUE(mentions[0].is_recorded);
  EXPECT_FALSE(mentions[0].object.empty());
  EXPECT_GE(mentions[0].size_bytes, 2'400'000u);
  EXPECT_EQ(mentions[0].content.size_bytes(), mentions[0].size_bytes);
}

TEST_F(recording_of_objects, has_only_the_sizes_of_larger_ones) {
  publish("echo", far().system.spawn(echo));
  connect(with_objects(recorded(), 1_MiB));
  EXPECT_TRUE(ask<array<double>>(near().system, find("echo"), array<double>(many_doubles())));
  EXPECT_TRUE(ask<array<double>>(near().system, find("echo"), large_array()));
  const auto requests = content().of(tape_message_kind::request, tape_side::recorder);
  ASSERT_EQ(requests.size(), 2u);
  EXPECT_EQ(requests[0].elements.at(0).missing, "");
  EXPECT_NE(requests[1].elements.at(0).missing.find("2,400,000 bytes was in the store"), std::string::npos)
      << requests[1].elements.at(0).missing;
}

TEST_F(recording_of_objects, keeps_no_object_after_it_is_written) {
  publish("echo", far().system.spawn(echo));
  connect(with_objects(recorded(), 4_MiB));
  EXPECT_TRUE(ask<array<double>>(near().system, find("echo"), large_array()));
  auto store = store::object_store::open(**near_options_.store).value();
  EXPECT_TRUE(eventually([&] { return store.totals().value().objects == 0; }));
}

TEST_F(recording, has_the_memory_of_values_that_pass_within_the_process) {
  address_ = "inproc://" + unique_name("recorded");
  far_options_.listen = {address_};
  publish("echo", far().system.spawn(echo));
  connect(recorded());
  EXPECT_EQ(ask<std::size_t>(near().system, find("echo"), std::string(1'000, 'x')), 1'000u);
  const auto tape = content();
  const auto requests = tape.of(tape_message_kind::request, tape_side::recorder);
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_GE(requests[0].value_bytes.value_or(0), 1'000u);
  EXPECT_EQ(tape.links.at(0).transport, "inproc");
}

TEST_F(recording, of_the_accepting_end_begins_when_the_node_opens) {
  far_options_.accepted_links.recording.directory = folder_.file("tapes");
  publish("echo", far().system.spawn(echo));
  connect();
  EXPECT_EQ(ask<int>(near().system, find("echo"), 1), 2);
  link_.reset();
  near_.reset();
  far_.reset();
  std::vector<std::string> files;
  for (const auto& each : std::filesystem::directory_iterator{folder_.file("tapes")})
    files.push_back(each.path().string());
  ASSERT_EQ(files.size(), 1u);
  EXPECT_NE(files[0].find("/far-20"), std::string::npos) << files[0];
  const tape_content tape{files[0]};
  const auto requests = tape.of(tape_message_kind::request, tape_side::peer);
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_EQ(requests[0].to.name, "echo");
  EXPECT_EQ(requests[0].to.exporter, tape_side::recorder);
}

TEST_F(recording, has_neither_secrets_nor_the_handshake) {
  constexpr std::string_view secret_text = "a secret that is long enough";
  address_ = "tcp://127.0.0.1:0";
  far_options_.listen = {address_};
  far_options_.accepted_links.credentials.secret = secret_text;
  publish("echo", far().system.spawn(echo));
  auto options = recorded();
  options.credentials.secret = secret_text;
  connect(options);
  EXPECT_EQ(ask<int>(near().system, find("echo"), 1), 2);
  const auto identity = near().home->identity();
  EXPECT_EQ(content().messages.size(), 2u);
  const auto bytes = content_of(file_);
  const auto text = text_of(bytes);
  EXPECT_EQ(text.find(secret_text), std::string::npos);
  EXPECT_EQ(text.find(identity), std::string::npos);
  EXPECT_EQ(text.find("introduction_key"), std::string::npos);
}

// Goal: a tape can be read while its recorder writes it.
// Method: requests go on while the file is read again and again. Each reading has at least what the one before had, and
// nothing but its end may be incomplete.
TEST_F(recording, that_still_goes_on_can_be_read) {
  publish("echo", far().system.spawn(echo));
  connect(recorded());
  const auto there = find("echo");
  std::size_t read_before = 0;
  auto is_growing = true;
  const auto has_many = eventually([&] {
    for (int i = 0; i < 100; ++i)
      EXPECT_EQ(ask<int>(near().system, there, i), i + 1);
    EXPECT_TRUE(ask<std::size_t>(near().system, there, std::string(100'000, 'x')));
    const tape_content tape{file_};
    EXPECT_EQ(tape.end, tape_end::state::cut);
    for (const auto& each : tape.damage)
      EXPECT_TRUE(each.what.starts_with("the file ends within")) << each.what;
    for (std::size_t i = 0; i < tape.messages.size(); ++i)
      EXPECT_EQ(tape.messages[i].missing, "") << i;
    is_growing = is_growing && tape.messages.size() >= read_before;
    read_before = tape.messages.size();
    return read_before >= 500;
  });
  EXPECT_TRUE(has_many) << read_before;
  EXPECT_TRUE(is_growing);
  EXPECT_EQ(content().end, tape_end::state::closed);
}

TEST_F(recording, that_cannot_be_made_fails_the_connection_with_the_reason) {
  far();
  auto options = recorded();
  options.recording.directory = folder_.path();
  auto refused = near().home->connect(address_, options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), node_errc::bad_option);
  options = recorded();
  options.recording.queue_bytes = 1'000;
  EXPECT_EQ(near().home->connect(address_, options).error().code(), node_errc::bad_option);
  std::ofstream{file_} << "there";
  refused = near().home->connect(address_, recorded());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), node_errc::bad_option);
  EXPECT_NE(refused.error().message().find("exists already"), std::string::npos) << refused.error().message();
}

TEST_F(recording, that_cannot_be_made_fails_the_opening_of_a_node_whose_links_it_records) {
  std::ofstream{file_} << "there";
  far_options_.accepted_links.recording.file = file_;
  EXPECT_THROW(far(), std::runtime_error);
}

// Goal: a full disk loses no message of the link, and the tape says what it lost.
// Method: a file system of 1 MiB that only this process sees, and messages of several times that size.
TEST_F(recording, on_a_full_disk_loses_no_message_of_the_link) {
  const auto disk = folder_.file("disk");
  std::filesystem::create_directories(disk);
  if (::unshare(CLONE_NEWNS) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0
      || ::mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=1m") != 0)
    GTEST_SKIP() << "no right to mount";
  const auto file = disk + "/day.tape";
  publish("echo", far().system.spawn(echo));
  auto options = recorded();
  options.recording.file = file;
  connect(options);
  const auto there = find("echo");
  constexpr int count = 60;
  for (int i = 0; i < count; ++i)
    EXPECT_EQ(ask<std::size_t>(near().system, there, std::string(50'000, static_cast<char>('a' + i % 26))), 50'000u);
  link_.reset();
  near_.reset();
  const tape_content tape{file};
  std::uint64_t dropped = 0;
  for (const auto& each : tape.drops) {
    EXPECT_NE(each.why.find("No space left on device"), std::string::npos) << each.why;
    dropped += each.messages;
  }
  EXPECT_GT(tape.messages.size(), 10u);
  EXPECT_LT(tape.messages.size(), 2u * count);
  if (tape.end == tape_end::state::closed) { // There was room left for the tape to say what it lost.
    EXPECT_EQ(tape.messages.size() + dropped, 2u * count);
  }
  EXPECT_TRUE(tape.damage.empty());
  EXPECT_EQ(::umount2(disk.c_str(), MNT_DETACH), 0);
}

TEST_F(recording, stops_at_its_bound_and_the_link_goes_on) {
  publish("echo", far().system.spawn(echo));
  auto options = recorded();
  options.recording.file_bytes = 1_MiB;
  connect(options);
  const auto there = find("echo");
  for (int i = 0; i < 60; ++i)
    EXPECT_EQ(ask<std::size_t>(near().system, there, std::string(50'000, 'x')), 50'000u);
  const auto tape = content();
  EXPECT_EQ(tape.end, tape_end::state::full);
  EXPECT_GT(tape.messages.size(), 10u);
  EXPECT_LE(std::filesystem::file_size(file_), 1_MiB);
}

TEST_F(recording, of_a_link_under_load_has_all_messages_or_says_how_many_it_lacks) {
  publish("echo", far().system.spawn(echo));
  connect(recorded());
  const auto there = find("echo");
  constexpr int count = 20'000;
  {
    caf::scoped_actor self{near().system};
    for (int i = 0; i < count; ++i)
      self->send(there, i);
    EXPECT_EQ(ask<int>(near().system, there, 1), 2);
  }
  const auto tape = content();
  std::uint64_t dropped = 0;
  for (const auto& each : tape.drops)
    dropped += each.writer == tape_side::recorder ? each.messages : 0;
  const auto requests = tape.of(tape_message_kind::request, tape_side::recorder).size();
  EXPECT_EQ(tape.of(tape_message_kind::plain, tape_side::recorder).size() + requests + dropped, count + 1u);
}

// Small messages of a kind are read many at a time, but not from a recorded link.
TEST_F(recording, of_the_accepting_end_under_load_has_all_messages_or_says_how_many_it_lacks) {
  far_options_.accepted_links = recorded();
  publish("echo", far().system.spawn(echo));
  connect();
  const auto there = find("echo");
  constexpr int count = 20'000;
  {
    caf::scoped_actor self{near().system};
    for (int i = 0; i < count; ++i)
      self->send(there, i);
    EXPECT_EQ(ask<int>(near().system, there, 1), 2);
  }
  link_.reset();
  near_.reset();
  far_.reset();
  const tape_content tape{file_};
  std::uint64_t dropped = 0;
  for (const auto& each : tape.drops)
    dropped += each.writer == tape_side::peer ? each.messages : 0;
  const auto requests = tape.of(tape_message_kind::request, tape_side::peer).size();
  EXPECT_EQ(tape.of(tape_message_kind::plain, tape_side::peer).size() + requests + dropped, count + 1u);
}

} // namespace
} // namespace troupe::tests
