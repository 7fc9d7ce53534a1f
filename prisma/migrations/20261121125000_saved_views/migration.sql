-- Named looks at the list pages of the dashboard (interface rule 70 §3.5).
CREATE TABLE "saved_views" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "page" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "query" TEXT NOT NULL,
    "columns" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "shared" BOOLEAN NOT NULL DEFAULT false,
    "owner_id" UUID NOT NULL,
    "owner_label" TEXT NOT NULL,
    "default_for" UUID[] DEFAULT ARRAY[]::UUID[],
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "saved_views_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "saved_views_tenant_id_sandbox_page_owner_id_name_key" ON "saved_views"("tenant_id", "sandbox", "page", "owner_id", "name");
GRANT SELECT, INSERT, UPDATE, DELETE ON saved_views TO sallyport_app;
ALTER TABLE saved_views ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_space ON saved_views TO sallyport_app USING (tenant_id = app_tenant() AND sandbox = app_sandbox()) WITH CHECK (tenant_id = app_tenant() AND sandbox = app_sandbox());
