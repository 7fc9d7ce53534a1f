-- Requests kept with a route to be tried again, and what their answers must hold (interface rule 70 §11).
CREATE TABLE "route_examples" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "route_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "method" TEXT NOT NULL,
    "path" TEXT NOT NULL,
    "headers" JSONB NOT NULL DEFAULT '[]',
    "body" TEXT NOT NULL DEFAULT '',
    "assertions" JSONB NOT NULL DEFAULT '[]',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "route_examples_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "route_examples_route_id_name_key" ON "route_examples"("route_id", "name");
ALTER TABLE "route_examples" ADD CONSTRAINT "route_examples_route_id_tenant_id_sandbox_fkey" FOREIGN KEY ("route_id", "tenant_id", "sandbox") REFERENCES "routes"("id", "tenant_id", "sandbox") ON DELETE CASCADE ON UPDATE CASCADE;
GRANT SELECT, INSERT, UPDATE, DELETE ON route_examples TO sallyport_app;
ALTER TABLE route_examples ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_space ON route_examples TO sallyport_app USING (tenant_id = app_tenant() AND sandbox = app_sandbox()) WITH CHECK (tenant_id = app_tenant() AND sandbox = app_sandbox());
