-- The tail that the rollup hasn't folded yet, of one space.
CREATE INDEX "ai_usage_events_seq" ON "ai_usage_events"("tenant_id", "sandbox", "seq");
-- Filters of the call list that few calls pass.
CREATE INDEX "ai_request_logs_user" ON "ai_request_logs"("tenant_id", "sandbox", "user", "ts" DESC, "id" DESC) WHERE "user" IS NOT NULL;
CREATE INDEX "ai_request_logs_code" ON "ai_request_logs"("tenant_id", "sandbox", "code", "ts" DESC, "id" DESC) WHERE "code" IS NOT NULL;
CREATE INDEX "ai_request_logs_status" ON "ai_request_logs"("tenant_id", "sandbox", "status", "ts" DESC, "id" DESC) WHERE "status" <> 'ok';
CREATE INDEX "ai_request_logs_token" ON "ai_request_logs"("token_id", "ts" DESC, "id" DESC);
