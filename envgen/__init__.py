"""The designer's half: briefs, designs, certificates, regret, rewards, and the producer of shards."""
