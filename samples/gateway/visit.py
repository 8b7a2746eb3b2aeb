"""Visits the sample kitchen: python3 visit.py URL TOKEN [CA-FILE]"""
import struct
import sys

from troupe_client import Client, Refused, atom, value

with Client(sys.argv[1], sys.argv[2], ca_file=sys.argv[3] if len(sys.argv) > 3 else None) as kitchen:
    print(kitchen.ask("cup", atom("stir"), value("kitchen.spoon", {"metal": "silver", "turns": 3})))
    try:
        kitchen.ask("cup", atom("stir"), value("kitchen.spoon", {"metal": ""}))
    except Refused as refused:
        print(refused.status, refused.code, refused.text, sep=": ")

    with kitchen.socket("cup") as cup:
        requests = [cup.begin(atom("stir"), value("kitchen.spoon", {"metal": metal})) for metal in ("tin", "gold")]
        for request in reversed(requests):
            print(cup.answer(request))
    with kitchen.socket("bell") as bell:
        bell.tell(atom("ring"))
        print(", ".join(bell.message() for _ in range(3)))
    with kitchen.socket("waiter", on_request=lambda question: print(question) or value("str", "lemon")) as waiter:
        print(waiter.ask(atom("tea")))

    print(", ".join(kitchen.schema()["paths"]))
    table = kitchen.read("degrees")  # A file of numpy: numpy.load(io.BytesIO(table)) reads it.
    print(table[:6], struct.unpack("<6d", table[128:]))
    print(struct.unpack("<d", kitchen.read("degrees", 128, 135)))

    note = kitchen.make(b"tea at five")
    print(kitchen.read(note, 7).decode())
    kitchen.delete(note)
    try:
        kitchen.read(note)
    except Refused as refused:
        print(refused.status, refused.code, sep=": ")
