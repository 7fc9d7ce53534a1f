-- Whose calls may be answered from an agent's cache: the caller's own, or those of every caller. Agents that exist get the first. Answers that were kept
-- for everybody are found by none of the new keys; they are removed rather than kept until they end.
ALTER TABLE "ai_agents" ADD COLUMN "cache_scope" TEXT NOT NULL DEFAULT 'user' CONSTRAINT "ai_agents_cache_scope" CHECK ("cache_scope" IN ('user', 'shared'));
TRUNCATE "ai_cache_entries";
