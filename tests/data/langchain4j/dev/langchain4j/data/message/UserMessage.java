package dev.langchain4j.data.message;

public class UserMessage implements ChatMessage {
    private final String text;

    private UserMessage(String text) { this.text = text; }

    public static UserMessage from(String text) { return new UserMessage(text); }

    @Override
    public String toString() { return text; }
}
