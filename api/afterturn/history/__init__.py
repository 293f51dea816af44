"""Conversations of the past, as files hold them, read into turns. No I/O but the file that is handed in.

Two forms of one conversation's part: an exchange (`user`, `assistant`), or a list of messages as OpenAI's chat
API takes them (`messages`). A file has one such object a line (JSON Lines), or is one JSON array of them.
"""

from afterturn.history.items import BadItem as BadItem
from afterturn.history.reader import ImportedTurn as ImportedTurn
from afterturn.history.reader import read_history as read_history
