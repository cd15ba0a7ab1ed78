"""The cluster backend: OpenRLHF on Ray with vLLM and DeepSpeed trains, this package feeds and watches it.

rows.py       a planned step, cut into rows of one size for both roles
command.py    the configuration as OpenRLHF's command line
rollouts.py   a row at rollout time: live episodes in the sandbox, or recorded designs
agent.py      the class that OpenRLHF loads; the only module that imports OpenRLHF
checkpoint.py folders that OpenRLHF writes, as policy versions
backend.py    the run: refusals first, then launch, watch, publish, plan the next step
"""
