"""A few lines that compile to gigabytes are refused, and the host's memory is not touched."""
try: pass
finally:
    x = [a for a in (1, 2)]
    try: pass
    finally:
        x = [a for a in (1, 2)]
        try: pass
        finally:
            x = [a for a in (1, 2)]
            try: pass
            finally:
                x = [a for a in (1, 2)]
                try: pass
                finally:
                    x = [a for a in (1, 2)]
                    try: pass
                    finally:
                        x = [a for a in (1, 2)]
                        try: pass
                        finally:
                            x = [a for a in (1, 2)]
                            try: pass
                            finally:
                                x = [a for a in (1, 2)]
                                try: pass
                                finally:
                                    x = [a for a in (1, 2)]
                                    try: pass
                                    finally:
                                        x = [a for a in (1, 2)]
                                        try: pass
                                        finally:
                                            x = [a for a in (1, 2)]
                                            try: pass
                                            finally:
                                                x = [a for a in (1, 2)]
                                                try: pass
                                                finally:
                                                    x = [a for a in (1, 2)]
                                                    try: pass
                                                    finally:
                                                        x = [a for a in (1, 2)]
                                                        try: pass
                                                        finally:
                                                            x = [a for a in (1, 2)]
                                                            try: pass
                                                            finally:
                                                                x = [a for a in (1, 2)]
                                                                try: pass
                                                                finally:
                                                                    x = [a for a in (1, 2)]
                                                                    try: pass
                                                                    finally:
                                                                        x = [a for a in (1, 2)]
                                                                        try: pass
                                                                        finally:
                                                                            x = [a for a in (1, 2)]
                                                                            pass
class AttackEnv:
    def reset(self, seed=None):
        return 'ready', {}
    def step(self, action):
        return 'x', 0.0, True, False, {}
