"""Damage to the JSON documents that engines print."""

import copy
import json


def changed(document, path, value):
    """The text of a document with another value at a path of keys."""
    document = copy.deepcopy(document)
    *way, last = path
    place = document
    for key in way:
        place = place[key]
    place[last] = value
    return json.dumps(document)
