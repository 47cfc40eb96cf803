package dev.langchain4j.data.message;

public class AiMessage implements ChatMessage {
    private final String text;

    private AiMessage(String text) { this.text = text; }

    public static AiMessage from(String text) { return new AiMessage(text); }

    @Override
    public String toString() { return text; }
}
