"""Proximal operators: the ℓ₁ norm, the Fantope, the soft penalties of the paper."""
