-- What a key really uses of what it may: the way to a narrower one.
CREATE TABLE "api_key_uses" (
    "api_key_id" UUID NOT NULL,
    "capability" TEXT NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "last_used_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "api_key_uses_pkey" PRIMARY KEY ("api_key_id","capability")
);
GRANT SELECT ON api_key_uses TO sallyport_app;
ALTER TABLE api_key_uses ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_space ON api_key_uses TO sallyport_app USING (tenant_id = app_tenant() AND sandbox = app_sandbox());
