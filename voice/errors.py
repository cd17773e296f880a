"""What a caller of voice can meet.

VoiceFault
├── AudioUnreadable      a recording that can't be decoded
├── WeightsMissing       a model's weights are not here and can't be brought
├── WorkerFailed         a worker process died, or answered with an error
├── EngineUnavailable    the chosen engine can't be reached or is not configured
├── PortInUse            the page's port is taken
├── CallInProgress       a call runs already, in another window
├── OfferInvalid         the page's offer of a call can't be read
├── SettingInvalid       a setting that can't be read, from file, environment or flag
├── SoundUnavailable     this machine's microphone or loudspeaker can't be opened
├── WatchStuck           another process' watch can't be ended
└── RecordingInvalid     a recorded call whose files don't fit the format

Each message says what happened and what to do; it is shown to the user as it is.
"""

from __future__ import annotations


class VoiceFault(Exception):
    """The world failed; the message is for the user."""


class AudioUnreadable(VoiceFault):
    pass


class WeightsMissing(VoiceFault):
    pass


class WorkerFailed(VoiceFault):
    pass


class EngineUnavailable(VoiceFault):
    pass


class PortInUse(VoiceFault):
    pass


class SettingInvalid(VoiceFault):
    pass


class CallInProgress(VoiceFault):
    pass


class OfferInvalid(VoiceFault):
    pass


class RecordingInvalid(VoiceFault):
    pass


class SoundUnavailable(VoiceFault):
    pass


class WatchStuck(VoiceFault):
    pass
