"""What an administrator sees where something is not as it should be: one clear line each."""
