"""Ordinary sentences of many kinds: what their vectors have in common says nothing about any check.

The mean of their vectors is taken off every vector before two are compared. Without that, two texts are
alike already because both are short English sentences, and how much so differs from check to check.
"""

from __future__ import annotations

ORDINARY: tuple[str, ...] = (
    "Where can I find the invoice for my last order?",
    "The parcel was left with a neighbour on Tuesday.",
    "Please tell me how long the repair will take.",
    "I would like to move my booking to Friday evening.",
    "Thanks, that solved my problem.",
    "The manual explains how to replace the filter.",
    "What is the difference between the two plans?",
    "The train leaves from platform four in ten minutes.",
    "We have moved the meeting to the small room.",
    "My account still shows the wrong address.",
    "Is there a version for older computers?",
    "The garden looks lovely in the evening light.",
    "Can you explain this paragraph in simpler words?",
    "She bought a new bicycle last month.",
    "The app closes by itself when I open the camera.",
    "How do I export the table as a spreadsheet?",
    "Sales were slightly higher than in the year before.",
    "He said that he would call back later.",
    "Do you ship to the islands as well?",
    "The film was longer than I expected, but I liked it.",
    "I am writing a story about a lighthouse keeper.",
    "Our team consists of five people in two offices.",
    "The recipe needs two eggs and a glass of milk.",
    "Please find the attached report and let me know what you think.",
    "It rained all weekend, so we stayed inside and played cards.",
    "The museum has a new exhibition of old maps.",
    "Could you recommend a book on the history of the town?",
    "I am not happy with how this was handled.",
    "The contract runs for one year and renews by itself.",
    "Write a short summary of the text below.",
    "The function returns the number of rows that were changed.",
    "My daughter starts school in September.",
    "We offer free returns within thirty days.",
    "The doctor's office is closed on Wednesday afternoon.",
    "Water boils at a lower temperature in the mountains.",
    "Which colour goes well with a grey sofa?",
    "The team lost its first game of the season.",
    "Dear Sir or Madam, I am writing about the flat in Mill Street.",
    "The update adds a search field and mends several faults.",
    "Let us know if you need anything else.",
)
