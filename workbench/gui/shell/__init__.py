"""What surrounds the panes: session, actions, docks, settings, theme, palette, status bar, crash report."""
