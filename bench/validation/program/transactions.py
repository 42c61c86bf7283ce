"""Prints SQL: transactions of a few rows each, with an index that grows and rows that change."""

TRANSACTIONS = 80
ROWS = 40

print("CREATE TABLE item(id INTEGER PRIMARY KEY, key TEXT, value BLOB);")
print("CREATE INDEX by_key ON item(key);")
for transaction in range(TRANSACTIONS):
    print("BEGIN;")
    for row in range(ROWS):
        number = transaction * ROWS + row
        key = f"{number * 7919 % 100_003:06d}"
        print(f"INSERT INTO item VALUES({number}, '{key}', zeroblob({200 + number % 300}));")
    print(f"UPDATE item SET value = zeroblob(500) WHERE id % 97 = {transaction % 97};")
    print("COMMIT;")
