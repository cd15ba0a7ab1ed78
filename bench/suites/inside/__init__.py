"""Programs for the inside of a jail. The host reads them as text and never imports them."""
