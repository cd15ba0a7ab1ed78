"""The environment-generation service: HTTP on top, one worker below, a journal of jobs between.

request ─► guard ─► routers ─► ledger (jobs.jsonl) ─► worker thread: rounds, measurements, switches
                       │                                   │
                       └──── store, read in threads        └─► feed ─► server-sent events, metrics
"""
