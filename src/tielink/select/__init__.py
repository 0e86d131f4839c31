"""Model choice: DIC, WAIC and PSIS-LOO over dyads, and tables that compare models by them."""
