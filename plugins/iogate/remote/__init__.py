"""The bench that is elsewhere: a machine that has Python and the engines, and nothing of iogate.

The near side (`bench`, `connection`, `parcel`, `trouble`) sends over what the far side (`start`, `far`,
`sweep`) needs, and asks it by messages (`post`, `wire`). The far side runs `iogate.measure.local_bench` on
the standard library alone.
"""
