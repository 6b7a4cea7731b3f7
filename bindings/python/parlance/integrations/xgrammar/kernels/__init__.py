"""Applying bitmasks, by the names of XGrammar's kernels.

Each function is ``apply_token_bitmask_inplace``: arrays in main memory are
changed by the library, tensors by torch's operations on their device.
"""
