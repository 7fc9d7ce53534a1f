-- Figures of a month add up 3,000 quarters for each route, environment and class. Six hours are a part of both widths of its bars.
CREATE TABLE "request_blocks" (
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "block" TIMESTAMPTZ(3) NOT NULL,
    "route_id" UUID NOT NULL,
    "environment" TEXT NOT NULL,
    "status_class" INTEGER NOT NULL,
    "count" BIGINT NOT NULL DEFAULT 0,
    "trials" BIGINT NOT NULL DEFAULT 0,
    "errors" BIGINT NOT NULL DEFAULT 0,
    "rate_limited" BIGINT NOT NULL DEFAULT 0,
    "bytes_in" BIGINT NOT NULL DEFAULT 0,
    "bytes_out" BIGINT NOT NULL DEFAULT 0,
    "latency" INTEGER[] DEFAULT ARRAY[]::INTEGER[],
    "upstream" INTEGER[] DEFAULT ARRAY[]::INTEGER[],

    CONSTRAINT "request_blocks_pkey" PRIMARY KEY ("tenant_id","sandbox","block","route_id","environment","status_class")
);
CREATE INDEX "request_blocks_route_id_block_idx" ON "request_blocks"("route_id", "block");

CREATE TABLE "caller_blocks" (
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "caller_id" UUID NOT NULL,
    "block" TIMESTAMPTZ(3) NOT NULL,
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

    CONSTRAINT "caller_blocks_pkey" PRIMARY KEY ("tenant_id","sandbox","caller_id","block","route_id","environment","status_class")
);
CREATE INDEX "caller_blocks_tenant_id_sandbox_block_idx" ON "caller_blocks"("tenant_id", "sandbox", "block");

REVOKE ALL ON request_blocks, caller_blocks FROM sallyport_app;
GRANT SELECT ON request_blocks, caller_blocks TO sallyport_app;
ALTER TABLE request_blocks ENABLE ROW LEVEL SECURITY;
ALTER TABLE caller_blocks ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_space ON request_blocks TO sallyport_app USING (tenant_id = app_tenant() AND sandbox = (SELECT app_sandbox()));
CREATE POLICY own_space ON caller_blocks TO sallyport_app USING (tenant_id = app_tenant() AND sandbox = (SELECT app_sandbox()));

-- What was added up before. No quarter is added up meanwhile; the six hours of a marked one are added up with it.
LOCK TABLE folded_quarters IN EXCLUSIVE MODE;
CREATE FUNCTION add_buckets(a int[], b int[]) RETURNS int[] LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(array_agg(coalesce(x, 0) + coalesce(y, 0) ORDER BY i), '{}') FROM unnest(a, b) WITH ORDINALITY AS t(x, y, i) $$;
CREATE AGGREGATE sum_buckets(int[]) (sfunc = add_buckets, stype = int[], initcond = '{}');
INSERT INTO request_blocks (tenant_id, sandbox, block, route_id, environment, status_class, count, trials, errors, rate_limited, bytes_in, bytes_out, latency, upstream)
  SELECT tenant_id, sandbox, date_bin('6 hours', quarter, 'epoch'), route_id, environment, status_class, sum(count), sum(trials), sum(errors), sum(rate_limited),
    sum(bytes_in), sum(bytes_out), sum_buckets(latency), sum_buckets(upstream)
  FROM request_quarters WHERE quarter < (SELECT date_bin('6 hours', until, 'epoch') FROM folded_quarters) GROUP BY 1, 2, 3, 4, 5, 6;
INSERT INTO caller_blocks (tenant_id, sandbox, caller_id, block, route_id, environment, status_class, count, errors, rate_limited, bytes_in, bytes_out, latency, upstream)
  SELECT tenant_id, sandbox, caller_id, date_bin('6 hours', quarter, 'epoch'), route_id, environment, status_class, sum(count), sum(errors), sum(rate_limited),
    sum(bytes_in), sum(bytes_out), sum_buckets(latency), sum_buckets(upstream)
  FROM caller_quarters WHERE quarter < (SELECT date_bin('6 hours', until, 'epoch') FROM folded_quarters) GROUP BY 1, 2, 3, 4, 5, 6, 7;
DROP AGGREGATE sum_buckets(int[]);
DROP FUNCTION add_buckets(int[], int[]);
