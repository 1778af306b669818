"""What a ledger costs as it grows, and how many charges a server takes."""
