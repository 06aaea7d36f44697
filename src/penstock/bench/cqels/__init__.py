"""CQELS's conference: people with RFID tags among rooms, beside what is known of their publications."""
