package dev.langchain4j.model.decision;

public interface DecisionModel {}
