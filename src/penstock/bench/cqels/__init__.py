"""The conference of CQELS: people with RFID tags in rooms, and data about their publications."""
