"""What a machine needs before Spark starts: Java, jars, compiled operators, the class archive."""
