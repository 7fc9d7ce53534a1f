-- What becomes of an option of a translated call that changes its meaning and that the provider doesn't have. Agents that exist go on refusing the call.
ALTER TABLE "ai_agents" ADD COLUMN "unsupported" TEXT NOT NULL DEFAULT 'refuse' CONSTRAINT "ai_agents_unsupported" CHECK ("unsupported" IN ('drop', 'refuse'));
