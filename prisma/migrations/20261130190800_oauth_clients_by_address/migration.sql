-- A client that is known by the address of its own document (interface rule 21 §12) has a row in each workspace that signed it in. Every other client ID is
-- unique everywhere, as before; the first index also finds a client by its ID alone.
CREATE UNIQUE INDEX "oauth_clients_client_id_tenant_id_sandbox_key" ON "oauth_clients"("client_id", "tenant_id", "sandbox");
CREATE UNIQUE INDEX "oauth_clients_registered_client_id" ON "oauth_clients"("client_id") WHERE "client_id" NOT LIKE 'https://%';
DROP INDEX "oauth_clients_client_id_key";

ALTER TABLE "oauth_auth_requests" ADD COLUMN "document" JSONB;

-- The plan limits clients that somebody created and that are active: neither mirrored keys, nor the client of service-cli, nor those known by an address.
CREATE OR REPLACE FUNCTION count_oauth_clients() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
DECLARE r oauth_clients; delta bigint := 0;
BEGIN
  IF TG_OP <> 'INSERT' THEN
    r := OLD;
    delta := delta - (OLD.source_api_key_id IS NULL AND OLD.system_role IS NULL AND OLD.revoked_at IS NULL AND OLD.client_id NOT LIKE 'https://%')::int;
  END IF;
  IF TG_OP <> 'DELETE' THEN
    r := NEW;
    delta := delta + (NEW.source_api_key_id IS NULL AND NEW.system_role IS NULL AND NEW.revoked_at IS NULL AND NEW.client_id NOT LIKE 'https://%')::int;
  END IF;
  IF delta <> 0 THEN
    INSERT INTO row_counts (tenant_id, sandbox, kind, n) VALUES (r.tenant_id, r.sandbox, 'oauth_clients', delta)
      ON CONFLICT (tenant_id, sandbox, kind) DO UPDATE SET n = row_counts.n + excluded.n;
  END IF;
  RETURN NULL;
END $$;
