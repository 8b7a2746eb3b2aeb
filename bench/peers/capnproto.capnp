# What the two ends of the Cap'n Proto peer say to each other.
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
  begin @0 ();                     # What is consumed is counted anew.
  consume @1 Small -> stream;      # With the library's own flow control.
  finish @2 () -> (count :UInt64); # How many were consumed; after all of them.
  echo @3 Small -> Small;
  take @4 (value :Data) -> (number :UInt64);
}
