"""Messages as acts: mail to whoever an object names, and posts to a chat channel. Nothing is read there."""
