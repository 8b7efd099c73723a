"""Tree to checked program: names, types, direction of inference, requirements, graph, and two lowerings."""
