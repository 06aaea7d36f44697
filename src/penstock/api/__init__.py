"""What `import penstock` offers, loaded part by part when it is needed, and what the command line shares with it."""
