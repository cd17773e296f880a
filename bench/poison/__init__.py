"""What a hostile reviewer plants, what honest memory is lost, and pairs that differ in one thing."""
