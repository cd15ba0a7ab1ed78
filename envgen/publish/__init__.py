"""Releases of shards as data sets on the Hugging Face Hub: building, looking through, uploading."""
