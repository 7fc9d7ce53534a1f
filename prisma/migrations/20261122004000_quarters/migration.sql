-- The figures of the log added up a row for each minute, route, environment and class: 1,600 histograms for a day of one route. Quarters of an hour are
-- a fifteenth of that; minutes are read at the two ends of a span only. A job adds a quarter up when it is over, so that the writer of the log does no more.
CREATE TABLE "request_quarters" (
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "quarter" TIMESTAMPTZ(3) NOT NULL,
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

    CONSTRAINT "request_quarters_pkey" PRIMARY KEY ("tenant_id","sandbox","quarter","route_id","environment","status_class")
);
CREATE INDEX "request_quarters_route_id_quarter_idx" ON "request_quarters"("route_id", "quarter");

CREATE TABLE "caller_quarters" (
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "caller_id" UUID NOT NULL,
    "quarter" TIMESTAMPTZ(3) NOT NULL,
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

    CONSTRAINT "caller_quarters_pkey" PRIMARY KEY ("tenant_id","sandbox","caller_id","quarter","route_id","environment","status_class")
);
CREATE INDEX "caller_quarters_tenant_id_sandbox_quarter_idx" ON "caller_quarters"("tenant_id", "sandbox", "quarter");

-- A quarter of a space that its minutes no longer add up to, because a call was written late or retention cut it: until it is added up again its minutes
-- are read. Marks are only ever put beside each other, never on each other: one that is put while another is being taken away is not lost.
CREATE TABLE "late_quarters" (
    "id" BIGINT GENERATED ALWAYS AS IDENTITY NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "quarter" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "late_quarters_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "late_quarters_tenant_id_sandbox_quarter_idx" ON "late_quarters"("tenant_id", "sandbox", "quarter");

-- One row: the quarters before `until` are added up.
CREATE TABLE "folded_quarters" (
    "id" BOOLEAN NOT NULL DEFAULT true,
    "until" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "folded_quarters_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "folded_quarters_one" CHECK ("id")
);

REVOKE ALL ON request_quarters, caller_quarters, late_quarters, folded_quarters FROM sallyport_app;
GRANT SELECT ON request_quarters, caller_quarters, late_quarters, folded_quarters TO sallyport_app;
ALTER TABLE request_quarters ENABLE ROW LEVEL SECURITY;
ALTER TABLE caller_quarters ENABLE ROW LEVEL SECURITY;
ALTER TABLE late_quarters ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_space ON request_quarters TO sallyport_app USING (tenant_id = app_tenant() AND sandbox = (SELECT app_sandbox()));
CREATE POLICY own_space ON caller_quarters TO sallyport_app USING (tenant_id = app_tenant() AND sandbox = (SELECT app_sandbox()));
CREATE POLICY own_space ON late_quarters TO sallyport_app USING (tenant_id = app_tenant() AND sandbox = (SELECT app_sandbox()));

-- What was counted before. Nobody adds to the minutes meanwhile.
LOCK TABLE request_rollups, caller_rollups IN SHARE MODE;
INSERT INTO folded_quarters (until) VALUES (date_bin('15 minutes', now() - interval '20 minutes', 'epoch'));
CREATE FUNCTION add_buckets(a int[], b int[]) RETURNS int[] LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(array_agg(coalesce(x, 0) + coalesce(y, 0) ORDER BY i), '{}') FROM unnest(a, b) WITH ORDINALITY AS t(x, y, i) $$;
CREATE AGGREGATE sum_buckets(int[]) (sfunc = add_buckets, stype = int[], initcond = '{}');
INSERT INTO request_quarters (tenant_id, sandbox, quarter, route_id, environment, status_class, count, trials, errors, rate_limited, bytes_in, bytes_out, latency, upstream)
  SELECT tenant_id, sandbox, date_bin('15 minutes', minute, 'epoch'), route_id, environment, status_class, sum(count), sum(trials), sum(errors), sum(rate_limited),
    sum(bytes_in), sum(bytes_out), sum_buckets(latency), sum_buckets(upstream)
  FROM request_rollups WHERE minute < (SELECT until FROM folded_quarters) GROUP BY 1, 2, 3, 4, 5, 6;
INSERT INTO caller_quarters (tenant_id, sandbox, caller_id, quarter, route_id, environment, status_class, count, errors, rate_limited, bytes_in, bytes_out, latency, upstream)
  SELECT tenant_id, sandbox, caller_id, date_bin('15 minutes', minute, 'epoch'), route_id, environment, status_class, sum(count), sum(errors), sum(rate_limited),
    sum(bytes_in), sum(bytes_out), sum_buckets(latency), sum_buckets(upstream)
  FROM caller_rollups WHERE minute < (SELECT until FROM folded_quarters) GROUP BY 1, 2, 3, 4, 5, 6, 7;
DROP AGGREGATE sum_buckets(int[]);
DROP FUNCTION add_buckets(int[], int[]);
