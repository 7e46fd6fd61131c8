"""Changing what is sent again: its content as stored and as typed, its key, and its versions.

The ledger decides whether a changed content may go, and under which key (judge_edit); what stands
here tells people beforehand, and keeps what they typed.
"""
