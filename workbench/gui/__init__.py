"""The Qt application over the engine."""
