"""The dialogs of the window; each is opened by the window or by one pane."""
