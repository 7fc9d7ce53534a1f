CREATE TABLE "explorer_calls" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "user_id" UUID NOT NULL,
    "operation" TEXT NOT NULL,
    "method" TEXT NOT NULL,
    "path" TEXT NOT NULL,
    "query" TEXT NOT NULL,
    "body" JSONB,
    "status" INTEGER NOT NULL,
    "error" TEXT,
    "duration_ms" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "explorer_calls_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "explorer_calls_tenant_id_sandbox_user_id_created_at_idx" ON "explorer_calls"("tenant_id", "sandbox", "user_id", "created_at" DESC);
GRANT SELECT, INSERT, DELETE ON explorer_calls TO sallyport_app;
REVOKE UPDATE ON explorer_calls FROM sallyport_app;
ALTER TABLE explorer_calls ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_space ON explorer_calls TO sallyport_app USING (tenant_id = app_tenant() AND sandbox = app_sandbox()) WITH CHECK (tenant_id = app_tenant() AND sandbox = app_sandbox());
