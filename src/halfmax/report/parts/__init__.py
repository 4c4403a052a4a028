"""What a page says, computed part by part."""
