"""The top floor: the site, its pages and what people do on them."""
