"""Join planning and join operators."""
