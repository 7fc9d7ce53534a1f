-- Log streams also send webhook deliveries, and calls as spans. Deliveries are read in the order of their transactions: one that is still open may add rows later.
ALTER TABLE "webhook_attempts" ADD COLUMN "txid" BIGINT NOT NULL DEFAULT ((pg_current_xact_id())::text)::bigint;
CREATE INDEX "webhook_attempts_feed" ON "webhook_attempts"("tenant_id", "sandbox", "txid", "id");
ALTER TABLE "log_streams" DROP CONSTRAINT "log_streams_source";
ALTER TABLE "log_streams" ADD CONSTRAINT "log_streams_source" CHECK ("source" IN ('audit', 'requests', 'traces', 'deliveries'));
ALTER TABLE "log_streams" ADD CONSTRAINT "log_streams_traces" CHECK ("source" <> 'traces' OR "kind" = 'otlp');
