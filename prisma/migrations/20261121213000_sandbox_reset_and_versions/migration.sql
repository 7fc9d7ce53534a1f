-- When Test was last reset: calls of before are forgotten at once, and by the hourly pruning if that was cut off.
ALTER TABLE tenants ADD COLUMN test_reset_at TIMESTAMPTZ(3);

-- Which version of the API each key asks for, by day; kept for thirty days. Written in batches outside row-level security, read within it. The page
-- that shows it belongs to the workspace and not to a space, so both spaces are seen from either.
CREATE TABLE "api_version_days" (
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "api_key_id" UUID NOT NULL,
    "version" TEXT NOT NULL,
    "named" BOOLEAN NOT NULL,
    "day" DATE NOT NULL,
    "calls" BIGINT NOT NULL DEFAULT 0,
    "last_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "api_version_days_pkey" PRIMARY KEY ("tenant_id","sandbox","api_key_id","version","named","day")
);
CREATE INDEX "api_version_days_day_idx" ON "api_version_days"("day");
GRANT SELECT ON api_version_days TO sallyport_app;
ALTER TABLE api_version_days ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON api_version_days TO sallyport_app USING (tenant_id = app_tenant());
