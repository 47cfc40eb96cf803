"""Small widgets that several panes share: labels, bars, banners, code and conversation views, timeline, diff."""
