"""Errors that a user can mend: one line each, naming the key or path and the remedy."""


class AttnlabError(Exception):
    """Base of every error that is shown as one line, without a traceback, with exit code 2."""


class ConfigError(AttnlabError):
    """An override or a configuration file asks for something that does not exist or has the wrong type."""


class DataError(AttnlabError):
    """A data set is missing, malformed or does not hold what the configuration says."""


class IncompatibleError(AttnlabError):
    """A protocol needs something that the model or the data set does not give."""


class StoreError(AttnlabError):
    """An entry of the store is missing, incomplete or damaged."""
