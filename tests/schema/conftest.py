"""What the tests of the documents share."""

from codec_program import codec_echo

__all__ = ["codec_echo"]
