-- Rollups know method, origin, plane and error of their calls too, and what passing us cost, so that figures by them are of all calls and not of the newest.
-- What is there already is counted again from the calls themselves: retention removes both together, so none of them is missing. Nobody writes meanwhile.
LOCK TABLE request_logs, request_rollups, caller_rollups IN SHARE ROW EXCLUSIVE MODE;
TRUNCATE request_rollups, request_quarters, request_blocks, caller_rollups, caller_quarters, caller_blocks;

ALTER TABLE "request_rollups" DROP CONSTRAINT "request_rollups_pkey",
  ADD COLUMN "method" TEXT NOT NULL DEFAULT '', ADD COLUMN "origin" TEXT NOT NULL DEFAULT '', ADD COLUMN "plane" TEXT NOT NULL DEFAULT '', ADD COLUMN "error" TEXT NOT NULL DEFAULT '',
  ADD COLUMN "latency_sum" BIGINT NOT NULL DEFAULT 0, ADD COLUMN "overhead_sum" BIGINT NOT NULL DEFAULT 0,
  ADD COLUMN "overhead" INTEGER[] DEFAULT ARRAY[]::INTEGER[], ADD COLUMN "overhead_max" INTEGER NOT NULL DEFAULT 0,
  ADD CONSTRAINT "request_rollups_pkey" PRIMARY KEY ("tenant_id","sandbox","minute","route_id","environment","status_class","method","origin","plane","error");
ALTER TABLE "request_quarters" DROP CONSTRAINT "request_quarters_pkey",
  ADD COLUMN "method" TEXT NOT NULL DEFAULT '', ADD COLUMN "origin" TEXT NOT NULL DEFAULT '', ADD COLUMN "plane" TEXT NOT NULL DEFAULT '', ADD COLUMN "error" TEXT NOT NULL DEFAULT '',
  ADD COLUMN "latency_sum" BIGINT NOT NULL DEFAULT 0, ADD COLUMN "overhead_sum" BIGINT NOT NULL DEFAULT 0,
  ADD COLUMN "overhead" INTEGER[] DEFAULT ARRAY[]::INTEGER[], ADD COLUMN "overhead_max" INTEGER NOT NULL DEFAULT 0,
  ADD CONSTRAINT "request_quarters_pkey" PRIMARY KEY ("tenant_id","sandbox","quarter","route_id","environment","status_class","method","origin","plane","error");
ALTER TABLE "request_blocks" DROP CONSTRAINT "request_blocks_pkey",
  ADD COLUMN "method" TEXT NOT NULL DEFAULT '', ADD COLUMN "origin" TEXT NOT NULL DEFAULT '', ADD COLUMN "plane" TEXT NOT NULL DEFAULT '', ADD COLUMN "error" TEXT NOT NULL DEFAULT '',
  ADD COLUMN "latency_sum" BIGINT NOT NULL DEFAULT 0, ADD COLUMN "overhead_sum" BIGINT NOT NULL DEFAULT 0,
  ADD COLUMN "overhead" INTEGER[] DEFAULT ARRAY[]::INTEGER[], ADD COLUMN "overhead_max" INTEGER NOT NULL DEFAULT 0,
  ADD CONSTRAINT "request_blocks_pkey" PRIMARY KEY ("tenant_id","sandbox","block","route_id","environment","status_class","method","origin","plane","error");
ALTER TABLE "caller_rollups" DROP CONSTRAINT "caller_rollups_pkey",
  ADD COLUMN "method" TEXT NOT NULL DEFAULT '', ADD COLUMN "origin" TEXT NOT NULL DEFAULT '', ADD COLUMN "plane" TEXT NOT NULL DEFAULT '', ADD COLUMN "error" TEXT NOT NULL DEFAULT '',
  ADD COLUMN "latency_sum" BIGINT NOT NULL DEFAULT 0, ADD COLUMN "overhead_sum" BIGINT NOT NULL DEFAULT 0,
  ADD COLUMN "overhead" INTEGER[] DEFAULT ARRAY[]::INTEGER[], ADD COLUMN "overhead_max" INTEGER NOT NULL DEFAULT 0,
  ADD CONSTRAINT "caller_rollups_pkey" PRIMARY KEY ("tenant_id","sandbox","caller_id","minute","route_id","environment","status_class","method","origin","plane","error");
ALTER TABLE "caller_quarters" DROP CONSTRAINT "caller_quarters_pkey",
  ADD COLUMN "method" TEXT NOT NULL DEFAULT '', ADD COLUMN "origin" TEXT NOT NULL DEFAULT '', ADD COLUMN "plane" TEXT NOT NULL DEFAULT '', ADD COLUMN "error" TEXT NOT NULL DEFAULT '',
  ADD COLUMN "latency_sum" BIGINT NOT NULL DEFAULT 0, ADD COLUMN "overhead_sum" BIGINT NOT NULL DEFAULT 0,
  ADD COLUMN "overhead" INTEGER[] DEFAULT ARRAY[]::INTEGER[], ADD COLUMN "overhead_max" INTEGER NOT NULL DEFAULT 0,
  ADD CONSTRAINT "caller_quarters_pkey" PRIMARY KEY ("tenant_id","sandbox","caller_id","quarter","route_id","environment","status_class","method","origin","plane","error");
ALTER TABLE "caller_blocks" DROP CONSTRAINT "caller_blocks_pkey",
  ADD COLUMN "method" TEXT NOT NULL DEFAULT '', ADD COLUMN "origin" TEXT NOT NULL DEFAULT '', ADD COLUMN "plane" TEXT NOT NULL DEFAULT '', ADD COLUMN "error" TEXT NOT NULL DEFAULT '',
  ADD COLUMN "latency_sum" BIGINT NOT NULL DEFAULT 0, ADD COLUMN "overhead_sum" BIGINT NOT NULL DEFAULT 0,
  ADD COLUMN "overhead" INTEGER[] DEFAULT ARRAY[]::INTEGER[], ADD COLUMN "overhead_max" INTEGER NOT NULL DEFAULT 0,
  ADD CONSTRAINT "caller_blocks_pkey" PRIMARY KEY ("tenant_id","sandbox","caller_id","block","route_id","environment","status_class","method","origin","plane","error");

-- The bucket of a duration, 1 to 40, as server/domain/request-logs/buckets.ts has it, and the histogram of many.
CREATE FUNCTION log_bucket(ms int) RETURNS int LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN ms IS NULL THEN NULL WHEN ms <= 1 THEN 1 ELSE least(40, ceil(ln(ms::float8) / (ln(120000::float8) / 39) - 1e-9)::int + 1) END $$;
CREATE FUNCTION count_bucket(counts int[], bucket int) RETURNS int[] LANGUAGE plpgsql IMMUTABLE AS $$
  BEGIN IF bucket IS NOT NULL THEN counts[bucket] := counts[bucket] + 1; END IF; RETURN counts; END $$;
CREATE AGGREGATE histogram(int) (sfunc = count_bucket, stype = int[], initcond = '{0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0}');

CREATE FUNCTION recount_rollups() RETURNS void LANGUAGE plpgsql AS $body$
DECLARE
  methods CONSTANT text[] := '{GET,HEAD,POST,PUT,PATCH,DELETE,OPTIONS,TRACE,CONNECT,QUERY}';
  calls CONSTANT text := $$ (SELECT tenant_id, coalesce(sandbox, false) AS sandbox, date_trunc('minute', ts, 'UTC') AS minute, coalesce(route_id, '00000000-0000-0000-0000-000000000000') AS route_id,
      CASE WHEN error = 'environment_not_configured' THEN '' ELSE coalesce(environment, '') END AS environment, coalesce(status_code, 0) / 100 AS status_class,
      CASE WHEN method = ANY($1) THEN method WHEN coalesce(method, '') = '' THEN '' ELSE 'OTHER' END AS method, coalesce(origin, '') AS origin, coalesce(proxy_mode, '') AS plane, coalesce(error, '') AS error,
      coalesce(proxy_mode = 'test', false) AS trial, error IS NOT NULL OR coalesce(status_code, 0) >= 500 AS failed, coalesce(rate_limited, false) AS rate_limited, coalesce(request_bytes, 0) AS bytes_in, coalesce(response_bytes, 0) AS bytes_out,
      latency_ms, upstream_ms, greatest(latency_ms - upstream_ms, 0) AS overhead_ms, %s AS caller_id
    FROM request_logs) c $$;
  key CONSTANT text := 'tenant_id, sandbox, minute, route_id, environment, status_class, method, origin, plane, error';
  -- greatest() of a null and a number is the number: calls without an upstream have no overhead.
  figures CONSTANT text := $$ count(*) FILTER (WHERE failed AND NOT trial), count(*) FILTER (WHERE rate_limited AND NOT trial), coalesce(sum(bytes_in) FILTER (WHERE NOT trial), 0), coalesce(sum(bytes_out) FILTER (WHERE NOT trial), 0),
      coalesce(sum(latency_ms) FILTER (WHERE NOT trial), 0), coalesce(sum(overhead_ms) FILTER (WHERE NOT trial AND latency_ms IS NOT NULL AND upstream_ms IS NOT NULL), 0),
      histogram(log_bucket(latency_ms)) FILTER (WHERE NOT trial), histogram(log_bucket(upstream_ms)) FILTER (WHERE NOT trial),
      histogram(log_bucket(overhead_ms)) FILTER (WHERE NOT trial AND latency_ms IS NOT NULL AND upstream_ms IS NOT NULL),
      coalesce(max(latency_ms) FILTER (WHERE NOT trial), 0), coalesce(max(upstream_ms) FILTER (WHERE NOT trial), 0),
      coalesce(max(overhead_ms) FILTER (WHERE NOT trial AND latency_ms IS NOT NULL AND upstream_ms IS NOT NULL), 0) $$;
  columns CONSTANT text := 'errors, rate_limited, bytes_in, bytes_out, latency_sum, overhead_sum, latency, upstream, overhead, latency_max, upstream_max, overhead_max';
BEGIN
  EXECUTE format('INSERT INTO request_rollups (%1$s, count, trials, %2$s) SELECT %1$s, count(*) FILTER (WHERE NOT trial), count(*) FILTER (WHERE trial), %3$s FROM %4$s GROUP BY %1$s',
    key, columns, figures, format(calls, 'null::uuid')) USING methods;
  EXECUTE format('INSERT INTO caller_rollups (%1$s, caller_id, count, %2$s) SELECT %1$s, caller_id, count(*) FILTER (WHERE NOT trial), %3$s FROM %4$s WHERE caller_id IS NOT NULL GROUP BY %1$s, caller_id',
    key, columns, figures, format(calls, 'unnest(ARRAY[api_key_id, matched_client_id])')) USING methods;
  -- Quarters and six hours are added up by the job, which these marks tell what is to be done; until then minutes are read.
  DELETE FROM late_quarters;
  INSERT INTO late_quarters (tenant_id, sandbox, quarter) SELECT DISTINCT tenant_id, sandbox, date_bin('15 minutes', minute, 'epoch') FROM request_rollups;
END $body$;
SELECT recount_rollups();
DROP FUNCTION recount_rollups();
DROP AGGREGATE histogram(int);
DROP FUNCTION count_bucket(int[], int);
DROP FUNCTION log_bucket(int);
