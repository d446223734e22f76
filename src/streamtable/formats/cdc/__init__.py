"""The formats of change data capture: those of Debezium, Canal, Maxwell and GoldenGate."""
