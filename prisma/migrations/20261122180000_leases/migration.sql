-- One table for everything that expires. A lease says when a worker must look at a resource next; see server/domain/leases.
CREATE TABLE "leases" (
    "kind" TEXT NOT NULL,
    "resource_id" UUID NOT NULL,
    "tenant_id" UUID,
    "sandbox" BOOLEAN NOT NULL DEFAULT false,
    "next_at" TIMESTAMPTZ(3) NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "version" INTEGER NOT NULL DEFAULT 0,
    "locked_by" UUID,
    "locked_until" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "leases_pkey" PRIMARY KEY ("kind", "resource_id")
);
CREATE INDEX "leases_kind_next_at_idx" ON "leases"("kind", "next_at");
ALTER TABLE leases ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_space ON leases TO sallyport_app USING (tenant_id = app_tenant() AND sandbox = app_sandbox()) WITH CHECK (tenant_id = app_tenant() AND sandbox = app_sandbox());
GRANT SELECT, INSERT, UPDATE, DELETE ON leases TO sallyport_app;

-- Makes the lease named by the trigger's arguments due at once: kind, column of the resource's id, and `make` to create a missing one. The handler then
-- works out the real time, so that no rule about expiry is written twice.
CREATE FUNCTION wake_lease() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
DECLARE changed jsonb := to_jsonb(NEW); resource uuid := (changed ->> TG_ARGV[1])::uuid;
BEGIN
  IF TG_ARGV[2] = 'make' THEN
    INSERT INTO leases (kind, resource_id, tenant_id, sandbox, next_at)
      VALUES (TG_ARGV[0], resource, (changed ->> 'tenant_id')::uuid, coalesce((changed ->> 'sandbox')::boolean, false), 'epoch')
      ON CONFLICT (kind, resource_id) DO UPDATE SET next_at = excluded.next_at, version = leases.version + 1;
  ELSE
    UPDATE leases SET next_at = 'epoch', version = version + 1 WHERE kind = TG_ARGV[0] AND resource_id = resource;
  END IF;
  RETURN NULL;
END $$;

CREATE FUNCTION drop_leases() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
BEGIN
  DELETE FROM leases l USING gone g WHERE l.kind = TG_ARGV[0] AND l.resource_id = g.id;
  RETURN NULL;
END $$;

-- Gives the rows of a table leases: made when one of the columns is set, woken when one changes, dropped with the row.
CREATE FUNCTION lease_rows(tab regclass, lease_kind text, columns text[]) RETURNS void LANGUAGE plpgsql SET search_path = public, pg_catalog, pg_temp AS $$
DECLARE news text := (SELECT string_agg('NEW.' || quote_ident(c), ', ') FROM unnest(columns) c);
  olds text := (SELECT string_agg('OLD.' || quote_ident(c), ', ') FROM unnest(columns) c);
  names text := (SELECT string_agg(quote_ident(c), ', ') FROM unnest(columns) c);
BEGIN
  EXECUTE format('CREATE TRIGGER lease_made AFTER INSERT ON %s FOR EACH ROW WHEN (num_nonnulls(%s) > 0) EXECUTE FUNCTION wake_lease(%L, ''id'', ''make'')', tab, news, lease_kind);
  EXECUTE format('CREATE TRIGGER lease_woken AFTER UPDATE OF %s ON %s FOR EACH ROW WHEN (ROW(%s) IS DISTINCT FROM ROW(%s)) EXECUTE FUNCTION wake_lease(%L, ''id'', ''make'')', names, tab, olds, news, lease_kind);
  EXECUTE format('CREATE TRIGGER leases_dropped AFTER DELETE ON %s REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION drop_leases(%L)', tab, lease_kind);
END $$;
REVOKE ALL ON FUNCTION wake_lease, drop_leases, lease_rows FROM PUBLIC;

SELECT lease_rows('api_keys', 'api_key', '{expires_at,revoke_at}');
SELECT lease_rows('secrets', 'secret', '{expires_at}');
SELECT lease_rows('signup_claims', 'signup_claim', '{expires_at}');
-- The value of an environment may expire earlier or later than its secret, which is what the mails are about.
CREATE TRIGGER secret_lease_made AFTER INSERT OR UPDATE OF expires_at_override ON secret_environments FOR EACH ROW
  WHEN (NEW.expires_at_override IS NOT NULL) EXECUTE FUNCTION wake_lease('secret', 'secret_id', 'make');
CREATE TRIGGER secret_lease_woken AFTER INSERT OR UPDATE OF expires_at_override, current_value_id ON secret_environments FOR EACH ROW
  EXECUTE FUNCTION wake_lease('secret', 'secret_id', 'wake');

-- Everything that exists gets its lease; the first sweep works out the times.
INSERT INTO leases (kind, resource_id, tenant_id, sandbox, next_at)
  SELECT 'api_key', id, tenant_id, sandbox, 'epoch'::timestamptz FROM api_keys WHERE active AND num_nonnulls(expires_at, revoke_at) > 0
  UNION ALL SELECT 'secret', id, tenant_id, sandbox, 'epoch' FROM secrets s
    WHERE expires_at IS NOT NULL OR EXISTS (SELECT FROM secret_environments e WHERE e.secret_id = s.id AND e.expires_at_override IS NOT NULL)
  UNION ALL SELECT 'signup_claim', id, NULL, false, 'epoch' FROM signup_claims WHERE ready_at IS NULL;
