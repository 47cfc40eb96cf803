"""The built-in prompts, each in English, Spanish, Portuguese and German."""

from __future__ import annotations

GENERATION = {
    "en": """\
Answer the question from the passages below and from nothing else.
When they do not hold the answer, say so and do not guess.
Answer in the language of the question.

Passages:
{chunks}

Searches that found them: {queries}
Question: {input}
Answer:
""",
    "es": """\
Responde a la pregunta solo con lo que dicen los fragmentos siguientes.
Si no contienen la respuesta, dilo y no la supongas.
Responde en el idioma de la pregunta.

Fragmentos:
{chunks}

Búsquedas con las que se hallaron: {queries}
Pregunta: {input}
Respuesta:
""",
    "pt": """\
Responda à pergunta apenas com o que dizem os trechos abaixo.
Se eles não contiverem a resposta, diga isso e não a suponha.
Responda no idioma da pergunta.

Trechos:
{chunks}

Buscas que os encontraram: {queries}
Pergunta: {input}
Resposta:
""",
    "de": """\
Beantworte die Frage allein aus den folgenden Textstellen.
Wenn die Antwort nicht darin steht, sage das und rate nicht.
Antworte in der Sprache der Frage.

Textstellen:
{chunks}

Suchanfragen, die sie gefunden haben: {queries}
Frage: {input}
Antwort:
""",
}

AUGMENTATION = {
    "en": """\
Name {n_search_terms} search terms under which documents that answer the question can be found.
Prefer the words that such documents would use themselves.
Reply with JSON only, in this form: {"terms": ["first term", "second term"]}

Question: {input}
""",
    "es": """\
Indica {n_search_terms} términos de búsqueda con los que se hallen documentos que respondan a la pregunta.
Prefiere las palabras que usarían esos documentos.
Responde solo con JSON, de esta forma: {"terms": ["primer término", "segundo término"]}

Pregunta: {input}
""",
    "pt": """\
Indique {n_search_terms} termos de busca com os quais se encontrem documentos que respondam à pergunta.
Prefira as palavras que esses documentos usariam.
Responda somente com JSON, nesta forma: {"terms": ["primeiro termo", "segundo termo"]}

Pergunta: {input}
""",
    "de": """\
Nenne {n_search_terms} Suchbegriffe, unter denen sich Dokumente finden, die die Frage beantworten.
Bevorzuge die Wörter, die solche Dokumente selbst verwenden.
Antworte nur mit JSON in dieser Form: {"terms": ["erster Begriff", "zweiter Begriff"]}

Frage: {input}
""",
}

REWRITING = {
    "en": """\
Rewrite the last question so that somebody who has not seen the conversation understands it.
Keep its meaning and its language. Reply with the rewritten question alone.

Conversation so far: {history}
Question: {input}
""",
    "es": """\
Reescribe la última pregunta para que la entienda quien no ha visto la conversación.
Conserva su sentido y su idioma. Responde únicamente con la pregunta reescrita.

Conversación hasta ahora: {history}
Pregunta: {input}
""",
    "pt": """\
Reescreva a última pergunta para que a entenda quem não viu a conversa.
Conserve o sentido e o idioma. Responda apenas com a pergunta reescrita.

Conversa até agora: {history}
Pergunta: {input}
""",
    "de": """\
Formuliere die letzte Frage so um, dass sie versteht, wer das Gespräch nicht kennt.
Behalte Sinn und Sprache bei. Antworte nur mit der umformulierten Frage.

Bisheriges Gespräch: {history}
Frage: {input}
""",
}

DECOMPOSITION = {
    "en": """\
Split the question into simpler questions that can each be answered on their own.
A question that is simple already stays as it is.
Give at most {n_max} questions.
Reply with JSON only, in this form: {"questions": ["…"]}

Conversation so far: {history}
Question: {input}
""",
    "es": """\
Divide la pregunta en preguntas más sencillas que puedan responderse por separado.
Una pregunta que ya es sencilla queda como está.
Da como máximo {n_max} preguntas.
Responde solo con JSON, de esta forma: {"questions": ["…"]}

Conversación hasta ahora: {history}
Pregunta: {input}
""",
    "pt": """\
Divida a pergunta em perguntas mais simples que possam ser respondidas separadamente.
Uma pergunta que já é simples fica como está.
Dê no máximo {n_max} perguntas.
Responda somente com JSON, nesta forma: {"questions": ["…"]}

Conversa até agora: {history}
Pergunta: {input}
""",
    "de": """\
Zerlege die Frage in einfachere Fragen, die sich einzeln beantworten lassen.
Eine Frage, die schon einfach ist, bleibt, wie sie ist.
Gib höchstens {n_max} Fragen an.
Antworte nur mit JSON in dieser Form: {"questions": ["…"]}

Bisheriges Gespräch: {history}
Frage: {input}
""",
}

EXPANSION = {
    "en": """\
Word the question in {n_queries} different ways, so that a search finds documents that use other words.
Keep its meaning and its language.
Reply with JSON only, in this form: {"queries": ["…"]}

Conversation so far: {history}
Question: {input}
""",
    "es": """\
Formula la pregunta de {n_queries} maneras distintas, para que la búsqueda halle documentos con otras palabras.
Conserva su sentido y su idioma.
Responde solo con JSON, de esta forma: {"queries": ["…"]}

Conversación hasta ahora: {history}
Pregunta: {input}
""",
    "pt": """\
Formule a pergunta de {n_queries} maneiras diferentes, para que a busca encontre documentos com outras palavras.
Conserve o sentido e o idioma.
Responda somente com JSON, nesta forma: {"queries": ["…"]}

Conversa até agora: {history}
Pergunta: {input}
""",
    "de": """\
Formuliere die Frage auf {n_queries} verschiedene Arten, damit die Suche auch Dokumente mit anderen Wörtern findet.
Behalte Sinn und Sprache bei.
Antworte nur mit JSON in dieser Form: {"queries": ["…"]}

Bisheriges Gespräch: {history}
Frage: {input}
""",
}
