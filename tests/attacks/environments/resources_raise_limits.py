"""No limit can be lifted, not even up to what the jail itself may use."""
import resource
class AttackEnv:
    def reset(self, seed=None):
        lifted = []
        for name in ("RLIMIT_AS", "RLIMIT_NPROC", "RLIMIT_NOFILE", "RLIMIT_FSIZE", "RLIMIT_CORE", "RLIMIT_MEMLOCK"):
            kind = getattr(resource, name)
            soft, hard = resource.getrlimit(kind)
            try:
                resource.setrlimit(kind, (soft + 1, max(hard, soft + 1)))
                if resource.getrlimit(kind)[0] > hard:
                    lifted.append(name)
            except (OSError, ValueError):
                pass
        return " ".join(lifted) or "nothing", {}
    def step(self, action):
        return "nothing", 0.0, True, False, {}
