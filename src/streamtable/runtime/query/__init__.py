"""A streaming query of a job: modes, states, watermark, and alignment with other queries."""
