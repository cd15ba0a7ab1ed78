"""The memory under load: crowds of writers, kills, hundreds of thousands of rows, duplicates."""
