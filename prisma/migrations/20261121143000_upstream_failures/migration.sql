-- Upstream answers of 5xx carry no code of ours: they are looked up among themselves, as refusals are.
CREATE INDEX "request_logs_upstream_failures_idx" ON "request_logs"("tenant_id", "sandbox", "ts" DESC) WHERE "error" IS NULL AND "status_code" >= 500;
