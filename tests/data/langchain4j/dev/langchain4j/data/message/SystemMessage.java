package dev.langchain4j.data.message;

public class SystemMessage implements ChatMessage {
    private final String text;

    private SystemMessage(String text) { this.text = text; }

    public static SystemMessage from(String text) { return new SystemMessage(text); }

    @Override
    public String toString() { return text; }
}
