"""C-SPARQL's stock exchange: transactions of brokers, and the countries that the brokers are from."""
