"""One module per pane; each talks to the session and to no other pane. They are listed in `shell/pane_list.py`."""
