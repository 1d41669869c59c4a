"""Files that people write: YAML with positions, shapes of their content, writing them whole or not at all."""
