"""Spark sessions: started by a job, or passed in by a program."""
