"""The code editor: exact text, highlighting per line, gutter, squiggles, completion, find bar."""

from workbench.gui.editor.code_editor import CodeEditor, Tint
from workbench.gui.editor.editor_text import EditorText
from workbench.gui.editor.find_bar import FindBar
from workbench.gui.editor.highlighter import GraphHighlighter, PygmentsHighlighter, TemplateHighlighter

__all__ = [
    "CodeEditor",
    "EditorText",
    "FindBar",
    "GraphHighlighter",
    "PygmentsHighlighter",
    "TemplateHighlighter",
    "Tint",
]
