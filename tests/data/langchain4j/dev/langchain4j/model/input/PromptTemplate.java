package dev.langchain4j.model.input;

import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Fills {{name}} the way the real class documents it: any text between the marks is a name, values are data. */
public class PromptTemplate {
    private static final Pattern VARIABLE = Pattern.compile("\\{\\{\\s*(.+?)\\s*\\}\\}");
    private final String template;

    private PromptTemplate(String template) { this.template = template; }

    public static PromptTemplate from(String template) { return new PromptTemplate(template); }

    public Prompt apply(Map<String, Object> variables) {
        Matcher matcher = VARIABLE.matcher(template);
        StringBuilder text = new StringBuilder();
        while (matcher.find()) {
            Object value = variables.get(matcher.group(1));
            if (value == null) throw new IllegalArgumentException("Value for the variable '" + matcher.group(1) + "' is missing");
            matcher.appendReplacement(text, Matcher.quoteReplacement(value.toString()));
        }
        matcher.appendTail(text);
        return new Prompt(text.toString());
    }

    public static class Prompt {
        private final String text;

        Prompt(String text) { this.text = text; }

        public String text() { return text; }
    }
}
