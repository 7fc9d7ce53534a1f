-- How much each route, environment, key, client and secret is used, by day: a month of minutes is too many rows to add up for a list of them.
CREATE TABLE "call_days" (
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "kind" TEXT NOT NULL,
    "ref_id" UUID NOT NULL,
    "day" DATE NOT NULL,
    "calls" BIGINT NOT NULL DEFAULT 0,
    "errors" BIGINT NOT NULL DEFAULT 0,
    "counted" BIGINT NOT NULL DEFAULT 0,
    "last_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "call_days_pkey" PRIMARY KEY ("tenant_id","sandbox","kind","ref_id","day")
);
CREATE INDEX "call_days_tenant_id_sandbox_kind_day_idx" ON "call_days"("tenant_id", "sandbox", "kind", "day");
CREATE INDEX "call_days_day_idx" ON "call_days"("day");
GRANT SELECT ON call_days TO sallyport_app;
ALTER TABLE call_days ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_space ON call_days TO sallyport_app USING (tenant_id = app_tenant() AND sandbox = app_sandbox());

-- What was logged before counts as well, as the gateway's writer counts it.
INSERT INTO call_days
  SELECT l.tenant_id, coalesce(l.sandbox, false), p.kind, p.ref_id, (l.ts AT TIME ZONE 'UTC')::date, count(*),
    count(*) FILTER (WHERE l.error IS NOT NULL OR l.status_code >= 500),
    count(*) FILTER (WHERE l.trace #> '{phases_ms,limit}' IS NOT NULL
      AND coalesce(l.error, '') NOT IN ('plan_limit', 'concurrency_limit_exceeded', 'route_rate_limit_exceeded', 'client_rate_limit_exceeded')),
    max(l.ts)
  FROM request_logs l CROSS JOIN LATERAL (
    SELECT 'route' AS kind, coalesce(l.route_id, '00000000-0000-0000-0000-000000000000') AS ref_id
    UNION ALL SELECT 'api_key', l.api_key_id WHERE l.api_key_id IS NOT NULL
    UNION ALL SELECT 'client', l.matched_client_id WHERE l.matched_client_id IS NOT NULL
    UNION ALL SELECT 'environment', e.id FROM environments e
      WHERE e.tenant_id = l.tenant_id AND e.sandbox = coalesce(l.sandbox, false) AND e.name = l.environment AND l.error IS DISTINCT FROM 'environment_not_configured'
    UNION ALL SELECT 'secret', s.id FROM secrets s
      WHERE s.tenant_id = l.tenant_id AND s.sandbox = coalesce(l.sandbox, false) AND s.name = ANY (l.secrets_used)
  ) p
  GROUP BY 1, 2, 3, 4, 5;
