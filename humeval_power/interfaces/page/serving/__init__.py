"""Who may ask the page what, what may be brought, and the server itself."""
