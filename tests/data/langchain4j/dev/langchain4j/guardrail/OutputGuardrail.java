package dev.langchain4j.guardrail;

public interface OutputGuardrail {}
