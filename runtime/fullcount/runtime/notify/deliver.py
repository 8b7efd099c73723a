"""Sending what the store holds ready, one notice after the other, and recording what came of each.

A notice that can't be sent never changes the outcome of the run that it is about: that was recorded with it. It stays
in the record, with why, and is shown by `fullcount runs`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Final

from fullcount.runtime.notify.sending import NotSent, send
from fullcount.runtime.store.store import Store
from fullcount.runtime.store.views import NoticeRow, NoticeState
from fullcount.runtime.workspace.errors import WorkspaceError
from fullcount.runtime.workspace.notifiers import MailConfig, WebhookConfig

AT_ONCE: Final = 20
"""How many notices one call sends at most; the rest is for the next one."""

Send = Callable[[MailConfig | WebhookConfig, NoticeRow, datetime], None]


def send_row(config: MailConfig | WebhookConfig, notice: NoticeRow, at: datetime) -> None:
    """Send a notice of the store. See `sending.send`."""
    send(config, notice.notice_id, notice.title, notice.body, at)


async def deliver(
    store: Store,
    notifiers: Mapping[str, MailConfig | WebhookConfig],
    *,
    at_once: int = AT_ONCE,
    sender: Send = send_row,
) -> tuple[NoticeRow, ...]:
    """Send what is due, and return each notice as it stands then. Raises `StoreError` when the store does not answer.

    Whoever is cancelled in the middle of one leaves it to be found as `unknown`.
    """
    sent: list[NoticeRow] = []
    while len(sent) < at_once:
        notice = store.take_notice()
        if notice is None:
            break
        state, detail = await _sent(notice, notifiers.get(notice.target), sender)
        sent.append(store.end_notice(notice.notice_id, state, detail))
    return tuple(sent)


async def _sent(notice: NoticeRow, config: MailConfig | WebhookConfig | None, sender: Send) -> tuple[NoticeState, str]:
    if config is None:
        return NoticeState.FAILED, f"fullcount.toml has no notifier `{notice.target}`"
    try:
        await asyncio.to_thread(sender, config, notice, notice.queued_at)
    except NotSent as error:
        return NoticeState.UNKNOWN if error.maybe else NoticeState.FAILED, error.why
    except WorkspaceError as error:
        return NoticeState.FAILED, error.message
    return NoticeState.DELIVERED, ""
