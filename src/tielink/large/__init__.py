"""Large files: the model of profiles and shared ties by variational inference, written as rounds of SQL."""
