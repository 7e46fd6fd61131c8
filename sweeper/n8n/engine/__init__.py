"""An n8n of this installation's own, to try workflows and the reconciler against: the real one.

Lives here: the packages (by lock file, in a cache outside the repository), its process, its set-up.
Must not live here: what is asked of any n8n (``sweeper.n8n.client``), the workflows themselves.
"""
