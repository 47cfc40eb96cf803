"""Everything the product knows: templates, decisions, translation, history and exports, without a window."""
