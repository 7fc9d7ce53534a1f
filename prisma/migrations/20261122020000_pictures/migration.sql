-- Photos of people and logos of workspaces, re-encoded (interface rules 22 §6, §11). Each belongs to one: to whoever uploaded it until it is used, then
-- to the person or the workspace it shows, and goes with them.
CREATE TABLE "pictures" (
    "id" UUID NOT NULL,
    "uploaded_by" UUID,
    "user_id" UUID,
    "tenant_id" UUID,
    "etag" TEXT NOT NULL,
    "bytes" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "pictures_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "pictures_user_id_key" ON "pictures"("user_id");
CREATE UNIQUE INDEX "pictures_tenant_id_key" ON "pictures"("tenant_id");
CREATE INDEX "pictures_uploaded_by_idx" ON "pictures"("uploaded_by");
ALTER TABLE "pictures" ADD CONSTRAINT "pictures_uploaded_by_fkey" FOREIGN KEY ("uploaded_by") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "pictures" ADD CONSTRAINT "pictures_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "pictures" ADD CONSTRAINT "pictures_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE pictures ADD CONSTRAINT pictures_of_one CHECK (num_nonnulls(uploaded_by, user_id, tenant_id) = 1);

-- The id of the picture beside the name it stands with, so that no page has to look for it.
ALTER TABLE "users" ADD COLUMN "avatar" UUID;
ALTER TABLE "tenants" ADD COLUMN "logo" UUID;
GRANT SELECT (avatar) ON users TO sallyport_app;

-- A workspace takes its logo down by itself; to hang one it needs what a person uploaded, which no workspace may look at.
GRANT SELECT (id, tenant_id), DELETE ON pictures TO sallyport_app;
REVOKE INSERT, UPDATE ON pictures FROM sallyport_app;
ALTER TABLE pictures ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON pictures TO sallyport_app USING (tenant_id = app_tenant()) WITH CHECK (tenant_id = app_tenant());
CREATE FUNCTION hang_logo(picture uuid, person uuid, since timestamptz) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
BEGIN
  UPDATE pictures SET tenant_id = app_tenant(), uploaded_by = NULL WHERE id = picture AND uploaded_by = person AND created_at >= since;
  RETURN FOUND;
END $$;
REVOKE ALL ON FUNCTION hang_logo FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hang_logo TO sallyport_app;
