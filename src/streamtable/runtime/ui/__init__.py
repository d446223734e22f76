"""Web page of a running job: the plan as a graph with metrics, and the newest rows of the sinks."""
