"""Which of two outputs is preferred, by independent judges or by a panel."""
