"""What graded code may see of the environment that the judge was started in. The rest may hold secrets."""

from __future__ import annotations

import os

_NAMES = frozenset(
    (
        *("PATH", "HOME", "USER", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TEMP", "TMP", "HF_HOME", "XDG_CACHE_HOME"),
        *("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH", "CUBLAS_WORKSPACE_CONFIG"),
        *("SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "USERPROFILE", "APPDATA", "LOCALAPPDATA"),
        *("PROGRAMDATA", "NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE"),
    )
)
_BEGINNINGS = ("LC_", "CUDA_", "NVIDIA_", "OMP_", "MKL_", "KMP_", "TORCH_", "PYTORCH_")


def handed_on() -> dict[str, str]:
    """The variables of this process that a graded one gets."""
    return {
        name: value
        for name, value in os.environ.items()
        if name.upper() in _NAMES or name.upper().startswith(_BEGINNINGS)
    }
