-- The list of a route's calls tells its true total for a filter as well: what it is filtered by is part of the kept total's key. The writer adds to it
-- and retention takes from it, each in the transaction of the rows; the triggers on the minutes, which know neither status codes nor methods, go.
LOCK TABLE request_logs, request_rollups IN SHARE MODE;
DROP TRIGGER total_added ON request_rollups;
DROP TRIGGER total_changed ON request_rollups;
DROP TRIGGER total_removed ON request_rollups;
DROP FUNCTION total_calls();

TRUNCATE route_log_totals;
ALTER TABLE "route_log_totals" DROP CONSTRAINT "route_log_totals_pkey",
    ADD COLUMN "environment" TEXT NOT NULL,
    ADD COLUMN "status_code" INTEGER NOT NULL,
    ADD COLUMN "method" TEXT NOT NULL,
    ADD CONSTRAINT "route_log_totals_pkey" PRIMARY KEY ("tenant_id", "sandbox", "route_id", "environment", "status_code", "method");
-- Environments that callers made up are counted as none, or each of them would be a row.
INSERT INTO route_log_totals (tenant_id, sandbox, route_id, environment, status_code, method, n)
  SELECT tenant_id, coalesce(sandbox, false), route_id, CASE WHEN error = 'environment_not_configured' THEN '' ELSE coalesce(environment, '') END,
    coalesce(status_code, 0), coalesce(method, ''), count(*)
  FROM request_logs WHERE route_id IS NOT NULL GROUP BY 1, 2, 3, 4, 5, 6;

-- What a policy asks of a setting is asked once a statement and not once a row: half the time of counting calls.
ALTER POLICY own_space ON request_logs USING (tenant_id = app_tenant() AND coalesce(sandbox, false) = (SELECT app_sandbox()));
ALTER POLICY own_space ON request_rollups USING (tenant_id = app_tenant() AND sandbox = (SELECT app_sandbox()));
ALTER POLICY own_space ON caller_rollups USING (tenant_id = app_tenant() AND sandbox = (SELECT app_sandbox()));
