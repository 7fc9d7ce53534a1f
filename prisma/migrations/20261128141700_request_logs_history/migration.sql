-- With CLICKHOUSE_URL the worker copies calls to ClickHouse in the order of their IDs, and PostgreSQL keeps only the newest days. One row says how far that is:
-- every call up to `copied` is in ClickHouse; those up to `cut` are read from there and from nowhere else, whether PostgreSQL still has them or not.
CREATE TABLE "request_log_history" (
    "id" BOOLEAN NOT NULL DEFAULT true,
    "store" TEXT NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 0,
    "copied" BIGINT NOT NULL DEFAULT 0,
    "cut" BIGINT NOT NULL DEFAULT 0,
    "cut_until" TIMESTAMPTZ(3),
    "cut_at" TIMESTAMPTZ(3),
    "deleted_at" TIMESTAMPTZ(3),
    "failing_since" TIMESTAMPTZ(3),
    "failure" TEXT,

    CONSTRAINT "request_log_history_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "request_log_history_one" CHECK ("id")
);
-- The name of its table there. It is random, so that a ClickHouse that isn't this installation's is never taken for it.
INSERT INTO request_log_history (store) VALUES ('request_logs_' || substr(replace(gen_random_uuid()::text, '-', ''), 1, 12));
REVOKE ALL ON request_log_history FROM sallyport_app;
-- Readers of every workspace ask where older calls are; what ClickHouse said when it failed is for operators.
GRANT SELECT (store, cut, cut_until) ON request_log_history TO sallyport_app;
ALTER TABLE request_log_history ENABLE ROW LEVEL SECURITY;
CREATE POLICY everybody ON request_log_history FOR SELECT TO sallyport_app USING (true);

-- Of a space, the calls in ClickHouse from before this moment are beyond its window: nobody reads or counts them any more.
CREATE TABLE "request_log_floors" (
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "kept_from" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "request_log_floors_pkey" PRIMARY KEY ("tenant_id", "sandbox")
);
SELECT register_table('request_log_floors', 'space', privileges => 'SELECT');
