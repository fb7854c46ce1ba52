"""The page as one study: its folder, its stages, the home of all studies."""
