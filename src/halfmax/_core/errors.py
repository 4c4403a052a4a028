"""Words shared by error messages, and the warning that halfmax gives."""


class HalfmaxWarning(UserWarning):
    """Something in the answer deserves a second look; the message says what and why."""


class OptimismWarning(HalfmaxWarning):
    """Thresholds flood labels, or look much better here than they will on new data."""
