pytest_plugins = ["iogate.plugin"]
