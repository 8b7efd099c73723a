"""Kafka: what the error codes inside good replies mean. Reading from a cluster is not part of this yet."""
