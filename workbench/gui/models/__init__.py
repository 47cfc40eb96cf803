"""Item models and the words they speak: Qt's view of the engine's values, without a widget."""
