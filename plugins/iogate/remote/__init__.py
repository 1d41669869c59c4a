"""The bench that is elsewhere: a machine that has Python and the engines, and nothing of iogate.

The near side (`bench`, `connection`, `parcel`, `trouble`) sends over what the far side (`start`, `far`,
`sweep`) needs, and asks it by messages (`post`, `wire`). The far side runs `iogate.measure.local_bench` on
the standard library alone. `clients` are several of them as one bench: `client` is one, `together` what they
do at once, whose far side is `far_client`, and `relay` what goes between them.
"""
