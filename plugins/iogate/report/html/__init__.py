"""The report for people: a page of HTML that needs no network, made of results documents alone."""
