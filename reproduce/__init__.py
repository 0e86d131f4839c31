"""The paper's tables and figures, regenerated from its data beside the published values, and what goes beyond them."""
