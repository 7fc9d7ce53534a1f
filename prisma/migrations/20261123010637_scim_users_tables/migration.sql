-- Provisioning by SCIM (interface rule 23): what directories authenticate with, the people they keep here, and their latest calls.
CREATE TABLE "scim_credentials" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "space" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "digest" BYTEA NOT NULL,
    "prefix" TEXT NOT NULL,
    "created_by" UUID,
    "creator_label" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "expiry_told" INTEGER,
    "last_used_at" TIMESTAMPTZ(3),
    "last_used_ip" TEXT,
    "revoked_at" TIMESTAMPTZ(3),
    "revoked_by" UUID,

    CONSTRAINT "scim_credentials_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "scim_credentials_space" CHECK ("space" IN ('live', 'test')),
    CONSTRAINT "scim_credentials_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE UNIQUE INDEX "scim_credentials_digest_key" ON "scim_credentials"("digest");
CREATE INDEX "scim_credentials_tenant_id_created_at_idx" ON "scim_credentials"("tenant_id", "created_at");
SELECT register_table('scim_credentials', 'tenant', privileges => 'SELECT, INSERT, UPDATE');
SELECT lease_rows('scim_credentials', 'scim_credential', '{expires_at,revoked_at}');

-- A person as the directory of a workspace knows them. Whether they are active is never stored: it is whether they are a member.
CREATE TABLE "scim_users" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "user_id" UUID,
    "address" TEXT NOT NULL,
    "user_name" TEXT NOT NULL,
    "user_name_folded" TEXT COLLATE "C" NOT NULL,
    "external_id" TEXT COLLATE "C",
    "given_name" TEXT,
    "family_name" TEXT,
    "formatted" TEXT,
    "display_name" TEXT,
    "emails" JSONB NOT NULL DEFAULT '[]',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "synced_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),

    CONSTRAINT "scim_users_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "scim_users_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "scim_users_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE
);
-- Tombstones hold no name: whoever was deleted can be created again, with a new ID.
CREATE UNIQUE INDEX "scim_users_user_name" ON "scim_users"("tenant_id", "user_name_folded") WHERE "deleted_at" IS NULL;
CREATE UNIQUE INDEX "scim_users_external_id" ON "scim_users"("tenant_id", "external_id") WHERE "deleted_at" IS NULL AND "external_id" IS NOT NULL;
-- Two records of one person would contradict each other about whether they are active.
CREATE UNIQUE INDEX "scim_users_person" ON "scim_users"("tenant_id", "user_id") WHERE "deleted_at" IS NULL AND "user_id" IS NOT NULL;
CREATE INDEX "scim_users_listed" ON "scim_users"("tenant_id", "created_at", "id") WHERE "deleted_at" IS NULL;
CREATE INDEX "scim_users_unlinked" ON "scim_users"("tenant_id", "address") WHERE "deleted_at" IS NULL AND "user_id" IS NULL;
CREATE INDEX "scim_users_user_id_idx" ON "scim_users"("user_id");
SELECT register_table('scim_users', 'tenant', privileges => 'SELECT, INSERT, UPDATE');

-- The latest calls of a workspace's directories, without bodies.
CREATE TABLE "scim_requests" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "credential_id" UUID NOT NULL,
    "method" TEXT NOT NULL,
    "target" TEXT NOT NULL,
    "status" INTEGER NOT NULL,
    "scim_type" TEXT,
    "error" TEXT,
    "detail" TEXT,
    "request_id" TEXT NOT NULL,
    "duration_ms" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "scim_requests_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "scim_requests_credential_id_fkey" FOREIGN KEY ("credential_id") REFERENCES "scim_credentials"("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "scim_requests_tenant_id_created_at_id_idx" ON "scim_requests"("tenant_id", "created_at" DESC, "id" DESC);
SELECT register_table('scim_requests', 'tenant', privileges => 'SELECT');

-- The budget of a workspace and space: at most `most` calls in any 60 seconds (interface rule 23 §9). Counts the call, or answers after how many seconds
-- the next one is possible; 0 when it was counted. A second that has begun counts as a whole, so no window of 60 seconds ever holds more.
CREATE FUNCTION take_scim_budget(budget text, second bigint, most integer) RETURNS integer
LANGUAGE plpgsql SET search_path = public, pg_catalog, pg_temp AS $$
DECLARE used bigint; oldest bigint;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended(budget, 0));
  SELECT coalesce(sum(n), 0), min("window") INTO used, oldest FROM rate_counters WHERE key = budget AND "window" >= second - 60;
  IF used >= most THEN RETURN greatest(1, oldest + 61 - second); END IF;
  INSERT INTO rate_counters (key, "window", n, expires_at) VALUES (budget, second, 1, to_timestamp(second + 120))
    ON CONFLICT (key, "window") DO UPDATE SET n = rate_counters.n + 1;
  RETURN 0;
END $$;
REVOKE ALL ON FUNCTION take_scim_budget FROM PUBLIC;

-- A directory tells whether an account is disabled by whether its person is active.
GRANT SELECT (disabled_at) ON users TO sallyport_app;

-- The account of an address in a domain that the workspace has verified, made if there is none. Outside of these domains a workspace learns nothing about
-- accounts. The address of an account that never proved it may be a stranger's, who made it ahead of its owner: nothing that they set up keeps working.
CREATE FUNCTION scim_account(person uuid, address text, domain_name text, name text, at timestamptz) RETURNS TABLE (id uuid, created boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
DECLARE found uuid; proven timestamptz;
BEGIN
  IF NOT EXISTS (SELECT FROM tenant_domains d WHERE d.tenant_id = app_tenant() AND d.status = 'verified' AND d.domain = domain_name)
    OR (right(address, length(domain_name) + 1) <> '@' || domain_name AND domain_name !~ '(^|\.)xn--') THEN
    RAISE EXCEPTION 'not an address of a verified domain' USING ERRCODE = 'insufficient_privilege';
  END IF;
  SELECT u.id, u.email_verified_at INTO found, proven FROM users u WHERE u.email = address FOR UPDATE;
  IF found IS NULL THEN
    INSERT INTO users (id, email, full_name, created_at, updated_at) VALUES (person, address, name, at, at);
    RETURN QUERY SELECT person, true;
    RETURN;
  END IF;
  IF proven IS NULL THEN
    UPDATE users u SET password_hash = NULL, updated_at = at WHERE u.id = found;
    UPDATE sessions s SET revoked_at = at WHERE s.user_id = found AND s.revoked_at IS NULL;
    UPDATE mail_codes c SET used_at = at WHERE c.user_id = found AND c.used_at IS NULL AND c.purpose <> 'email_undo';
    DELETE FROM webauthn_credentials w WHERE w.user_id = found;
    DELETE FROM totp_secrets t WHERE t.user_id = found;
    DELETE FROM recovery_codes r WHERE r.user_id = found;
  END IF;
  RETURN QUERY SELECT found, false;
END $$;

-- Whether a mail of this kind and subject was written to the address since then.
CREATE FUNCTION mailed_since(address text, mail_kind text, mail_subject text, since timestamptz) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
  SELECT EXISTS (SELECT FROM mails WHERE recipient = address AND kind = mail_kind AND subject = mail_subject AND created_at > since) $$;
REVOKE ALL ON FUNCTION scim_account, mailed_since FROM PUBLIC;
GRANT EXECUTE ON FUNCTION scim_account, mailed_since TO sallyport_app;

-- Somebody whom the directory knows already and who joins in another way: their record is theirs from then on, so that the directory can end it.
CREATE FUNCTION link_scim_user() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
BEGIN
  UPDATE scim_users s SET user_id = NEW.user_id FROM users u
    WHERE u.id = NEW.user_id AND s.tenant_id = NEW.tenant_id AND s.address = u.email AND s.user_id IS NULL AND s.deleted_at IS NULL
      AND s.id = (SELECT f.id FROM scim_users f WHERE f.tenant_id = NEW.tenant_id AND f.address = u.email AND f.user_id IS NULL AND f.deleted_at IS NULL ORDER BY f.created_at, f.id LIMIT 1)
      AND NOT EXISTS (SELECT FROM scim_users l WHERE l.tenant_id = NEW.tenant_id AND l.user_id = NEW.user_id AND l.deleted_at IS NULL);
  RETURN NULL;
END $$;
CREATE TRIGGER link_scim_user AFTER INSERT ON memberships FOR EACH ROW EXECUTE FUNCTION link_scim_user();
REVOKE ALL ON FUNCTION link_scim_user FROM PUBLIC;
