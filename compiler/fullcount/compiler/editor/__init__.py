"""What an editor asks about a program while it is written: names, places, types, what can come next.

Pure: texts and a catalogue come in, values with offsets go out. It answers for texts with mistakes as well, as far as
they can be read, and never guesses where an answer would change a file.
"""
