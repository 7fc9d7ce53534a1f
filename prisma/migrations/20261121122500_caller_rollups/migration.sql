-- Figures of one API key or one client. The rows of the log have no index by caller, and a busy caller has millions of them.
CREATE TABLE "caller_rollups" (
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "caller_id" UUID NOT NULL,
    "minute" TIMESTAMPTZ(3) NOT NULL,
    "route_id" UUID NOT NULL,
    "environment" TEXT NOT NULL,
    "status_class" INTEGER NOT NULL,
    "count" BIGINT NOT NULL DEFAULT 0,
    "errors" BIGINT NOT NULL DEFAULT 0,
    "rate_limited" BIGINT NOT NULL DEFAULT 0,
    "bytes_in" BIGINT NOT NULL DEFAULT 0,
    "bytes_out" BIGINT NOT NULL DEFAULT 0,
    "latency" INTEGER[] DEFAULT ARRAY[]::INTEGER[],
    "upstream" INTEGER[] DEFAULT ARRAY[]::INTEGER[],

    CONSTRAINT "caller_rollups_pkey" PRIMARY KEY ("tenant_id","sandbox","caller_id","minute","route_id","environment","status_class")
);
CREATE INDEX "caller_rollups_tenant_id_sandbox_minute_idx" ON "caller_rollups"("tenant_id", "sandbox", "minute");
GRANT SELECT ON caller_rollups TO sallyport_app;
ALTER TABLE caller_rollups ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_space ON caller_rollups TO sallyport_app USING (tenant_id = app_tenant() AND sandbox = app_sandbox());

-- What was logged before counts as well. The buckets are those of the gateway's writer: 40, evenly in the logarithm of 1 ms to 120 s.
INSERT INTO caller_rollups
  SELECT tenant_id, sandbox, caller_id, minute, route_id, environment, status_class, count(*),
    count(*) FILTER (WHERE error IS NOT NULL OR status_code >= 500), count(*) FILTER (WHERE rate_limited), coalesce(sum(request_bytes), 0), coalesce(sum(response_bytes), 0),
    (SELECT array_agg(cardinality(array_positions(array_agg(latency_bucket), i)) ORDER BY i) FROM generate_series(0, 39) i),
    (SELECT array_agg(cardinality(array_positions(array_agg(upstream_bucket), i)) ORDER BY i) FROM generate_series(0, 39) i)
  FROM (SELECT tenant_id, coalesce(sandbox, false) AS sandbox, caller_id, date_trunc('minute', ts) AS minute,
      coalesce(route_id, '00000000-0000-0000-0000-000000000000') AS route_id,
      CASE WHEN error = 'environment_not_configured' THEN '' ELSE coalesce(environment, '') END AS environment,
      coalesce(status_code, 0) / 100 AS status_class, status_code, error, rate_limited, request_bytes, response_bytes,
      CASE WHEN latency_ms > 1 THEN least(39, ceil(ln(latency_ms) / (ln(120000) / 39) - 1e-9))::int WHEN latency_ms IS NOT NULL THEN 0 END AS latency_bucket,
      CASE WHEN upstream_ms > 1 THEN least(39, ceil(ln(upstream_ms) / (ln(120000) / 39) - 1e-9))::int WHEN upstream_ms IS NOT NULL THEN 0 END AS upstream_bucket
    FROM request_logs, LATERAL (SELECT DISTINCT c FROM unnest(ARRAY[api_key_id, matched_client_id]) c WHERE c IS NOT NULL) AS callers(caller_id)) l
  GROUP BY 1, 2, 3, 4, 5, 6, 7;

-- The codes of the newest failures are looked up among failures, not among all calls.
CREATE INDEX "request_logs_failures_idx" ON "request_logs"("tenant_id", "sandbox", "ts" DESC) WHERE "error" IS NOT NULL;
