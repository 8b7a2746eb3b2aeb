// <troupe/troupe.hpp>: the one header to include first in a program whose actors communicate over links.
//
// Not every program needs these further headers:
//
//     troupe/framework/resolving.hpp, arg.hpp     handlers that take values although senders pass references
//     troupe/framework/fetching.hpp               waiting for several references at once
//     troupe/framework/link_ready.hpp             senders that wait for room
//     troupe/framework/node_report.hpp            what nodes report about themselves
//     troupe/framework/node_activity.hpp          their actors, supervisors, dead letters and traces
//     troupe/framework/out_of_band.hpp            references that are serialized outside of messages
//     troupe/serializers/serialize.hpp            values to payloads and back, without links
//     troupe/serializers/inspect.hpp              why a type cannot travel
//     troupe/serializers/cereal/, protobuf/       types with functions of these libraries
//     troupe/serializers/extend/                  for authors of families
//     troupe/store/object_store.hpp               the store, without actors
#pragma once

#include <caf/all.hpp>

#include <troupe/base/sizes.hpp>
#include <troupe/base/value_or_throw.hpp>
#include <troupe/framework/dead_letter.hpp>
#include <troupe/framework/drain_on_signal.hpp>
#include <troupe/framework/log.hpp>
#include <troupe/framework/node.hpp>
#include <troupe/framework/supervise.hpp>
#include <troupe/framework/system_config.hpp>
#include <troupe/framework/worker_main.hpp>
#include <troupe/framework/worker_process.hpp>
#include <troupe/serializers/array.hpp>
#include <troupe/serializers/describe.hpp>
#include <troupe/serializers/function.hpp>
#include <troupe/serializers/serialized.hpp>
