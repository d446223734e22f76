"""Creates the topic `orders` on a development broker and writes two orders."""

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

SERVERS = {"bootstrap.servers": "127.0.0.1:9092"}

AdminClient(SERVERS).create_topics([NewTopic("orders")])["orders"].result()
producer = Producer(SERVERS)
producer.produce("orders", '{"id": 1, "customer": 1, "amount": 12.50}')
producer.produce("orders", '{"id": 2, "customer": 2, "amount": 30}')
producer.flush()
