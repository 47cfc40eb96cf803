"""Tests of the translation room."""
