"""`jarvis talk` on the command line."""

from __future__ import annotations

import asyncio
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from voice.cli_shared import (
    TALK,
    EngineOption,
    JsonOption,
    LanguageOption,
    ModelOption,
    StateOption,
    VaultOption,
    app,
    chosen,
    told,
)


class Echo(Enum):
    CANCEL = "cancel"
    HALF = "half"
    OFF = "off"


@app.command(rich_help_panel=TALK)
def talk(
    vault: VaultOption = None,
    state: StateOption = None,
    engine: EngineOption = None,
    model: ModelOption = None,
    language: LanguageOption = None,
    record: Annotated[
        Path | None, typer.Option("--record", help="Keep the call's sound in this folder.")
    ] = None,
    microphone: Annotated[
        str, typer.Option("--microphone", help="A part of the microphone's name.")
    ] = "",
    speaker: Annotated[
        str, typer.Option("--speaker", help="A part of the loudspeaker's name.")
    ] = "",
    push_to_talk: Annotated[
        bool, typer.Option("--push-to-talk", help="Listen only between two presses of Space.")
    ] = False,
    echo: Annotated[
        Echo,
        typer.Option(
            "--echo",
            help="Take Jarvis' voice out of the microphone; or be deaf while it speaks (half); "
            "or neither (off, for headphones).",
        ),
    ] = Echo.CANCEL,
    as_json: JsonOption = False,
) -> None:
    """Talk to Jarvis here, with this machine's microphone and loudspeaker.

    Letters make a typed turn, Escape stops an answer, Ctrl-C hangs up.

    Example: `jarvis talk --push-to-talk`
    """
    from voice.talk import TalkWishes, run

    with told():
        config = chosen(
            vault=vault,
            state=state,
            engine=engine,
            model=model,
            language=language,
            record=record,
        )
        wishes = TalkWishes(
            microphone=microphone,
            speaker=speaker,
            push_to_talk=push_to_talk,
            echo=echo.value,
            as_json=as_json,
        )
        asyncio.run(run(config, wishes))
