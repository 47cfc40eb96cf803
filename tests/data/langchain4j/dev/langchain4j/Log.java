package dev.langchain4j;

import java.util.ArrayList;
import java.util.List;

/** Keeps what exported code called, so that a test can read it. These classes are ours and only for tests. */
public final class Log {
    private static final List<String> LINES = new ArrayList<>();

    public static void add(String line) { LINES.add(line); }

    public static String text() { return String.join("\u001e", LINES); }
}
