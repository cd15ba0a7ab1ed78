"""What every package may import: errors, output, settings, files and seeds. Imports nothing of ours."""
