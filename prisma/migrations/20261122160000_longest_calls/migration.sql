-- The longest call of each rollup row: a percentile taken from the histogram never exceeds it. Constant defaults rewrite no table.
ALTER TABLE "request_rollups" ADD COLUMN "latency_max" INTEGER NOT NULL DEFAULT 0, ADD COLUMN "upstream_max" INTEGER NOT NULL DEFAULT 0;
ALTER TABLE "request_quarters" ADD COLUMN "latency_max" INTEGER NOT NULL DEFAULT 0, ADD COLUMN "upstream_max" INTEGER NOT NULL DEFAULT 0;
ALTER TABLE "request_blocks" ADD COLUMN "latency_max" INTEGER NOT NULL DEFAULT 0, ADD COLUMN "upstream_max" INTEGER NOT NULL DEFAULT 0;
ALTER TABLE "caller_rollups" ADD COLUMN "latency_max" INTEGER NOT NULL DEFAULT 0, ADD COLUMN "upstream_max" INTEGER NOT NULL DEFAULT 0;
ALTER TABLE "caller_quarters" ADD COLUMN "latency_max" INTEGER NOT NULL DEFAULT 0, ADD COLUMN "upstream_max" INTEGER NOT NULL DEFAULT 0;
ALTER TABLE "caller_blocks" ADD COLUMN "latency_max" INTEGER NOT NULL DEFAULT 0, ADD COLUMN "upstream_max" INTEGER NOT NULL DEFAULT 0;
