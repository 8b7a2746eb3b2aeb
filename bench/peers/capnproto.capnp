# The messages between the two ends of the Cap'n Proto peer.
@0xc1f7d5a46d1d3b8e;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("bench::capnp_peer");

struct Small {
  number @0 :Int32;
  second @1 :Int32;
  third @2 :Int32;
  text @3 :Text;
}

interface Far {
  begin @0 ();                     # Restarts the count of consumed messages.
  consume @1 Small -> stream;      # With the library's own flow control.
  finish @2 () -> (count :UInt64); # The number of consumed messages, once all of them are consumed.
  echo @3 Small -> Small;
  take @4 (value :Data) -> (number :UInt64);
}
