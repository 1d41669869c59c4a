#!/bin/sh
# Say "good", "bad" or "cannot be told" of one commit, for `git bisect run`.
./build-and-flash || exit 125   # the image of this commit, onto the device
cd ../gate || exit 255          # suites and baselines, which no step changes
pytest suites/ --device=lab-7 --io-strict
case $? in
    0) exit 0 ;;                # as fast as its baseline
    1) exit 1 ;;                # slower
    10 | 12) exit 125 ;;        # undecided, or not to be believed: try the commit beside it
    *) exit 255 ;;              # interrupted, refused, no baseline: the next step would end like this, too
esac
