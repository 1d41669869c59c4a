"""What works on files that exist already: show, compare, import, and the audit of reports."""
