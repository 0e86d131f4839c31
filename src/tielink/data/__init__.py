"""Files and frames in, a checked `Dataset` out; and `Linkage`, who is whom."""
