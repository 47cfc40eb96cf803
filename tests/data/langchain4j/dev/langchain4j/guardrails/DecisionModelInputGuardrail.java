package dev.langchain4j.guardrails;

import dev.langchain4j.Log;
import dev.langchain4j.guardrail.InputGuardrail;
import dev.langchain4j.model.decision.DecisionModel;

public class DecisionModelInputGuardrail implements InputGuardrail {
    public static Builder builder() { return new Builder(); }

    public static class Builder {
        public Builder decisionModel(DecisionModel model) { return this; }

        public Builder check(String name, String question) { return check(name, question, null); }

        public Builder check(String name, String question, Double threshold) {
            Log.add("check " + name + " " + threshold + " " + question);
            return this;
        }

        public Builder threshold(Double threshold) { Log.add("threshold " + threshold); return this; }

        public DecisionModelInputGuardrail build() { return new DecisionModelInputGuardrail(); }
    }
}
