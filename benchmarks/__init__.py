"""Speed and quality, measured side by side; see README.md."""
