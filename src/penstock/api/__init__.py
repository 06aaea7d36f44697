"""The public API of `import penstock`, loaded part by part, and the parts that the command line shares with it."""
