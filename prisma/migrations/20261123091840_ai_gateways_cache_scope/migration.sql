-- Rows with a scope hold the embedding of a question and lead to the row with its answer; questions are compared within one scope.
ALTER TABLE "ai_cache_entries" ADD COLUMN "scope" BYTEA;

CREATE INDEX "ai_cache_entries_agent_id_scope_created_at_idx" ON "ai_cache_entries"("agent_id", "scope", "created_at" DESC);
