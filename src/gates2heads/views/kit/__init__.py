"""What the views share."""
