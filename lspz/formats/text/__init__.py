"""What the text form is built of: lines, words, positions and message templates. No kind of message is known here.

The rules are those of text_format.md; docs/text_format.md is for those who write a decoder.
"""
