"""LUBM: data of universities and the 14 queries over them, after Guo, Pan and Heflin (2005)."""
