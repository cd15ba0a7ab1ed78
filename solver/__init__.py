"""The solver side: the policy that plays, its episodes, its trainer and its versions."""
