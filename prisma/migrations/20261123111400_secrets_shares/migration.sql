-- Sharing between workspaces (interface rule 30 §14). How tenants are crossed, and why it is safe:
--
-- A share is a row of the workspace that owns the secret, and row-level security shows it to that workspace alone. The recipient has a secret of its own,
-- with `linked_share_id` and without values. A link counts only if both rows say so: the share names the recipient's workspace and secret, the secret names
-- the share, and the space is the same. The recipient's side can write neither half of the other's row: the functions below are the whole crossing.
-- - share_offers, claim_share, decline_share: what is offered to the verified address of a member of this workspace, by the ID of the person who is signed in.
-- - secret_links: what the links of this workspace lead to. Metadata only; no function returns a ciphertext.
-- - sharing_workspace: opens the way to the owner's rows for one link, for `inSharingWorkspace` (server/domain/secrets/links.ts), the one place in the
--   program that enters another workspace's context. It locks the share, so a revocation comes before or after, and never in between.
-- Gateways read across workspaces as they always do, by both halves of the link, and only values of shares that are active (snapshot/secrets.ts). They ask the
-- database again when their picture of a share was not confirmed within 5 s (core/share-guard.ts).
-- Triggers, and no code that could forget it, end a share when either secret goes, and touch the linked secret whenever what it leads to changes: that
-- announces the recipient's workspace and changes its fingerprint.
CREATE TABLE "secret_shares" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "secret_id" UUID NOT NULL,
    "secret_name" TEXT NOT NULL,
    "environment_name" TEXT NOT NULL,
    "recipient_email" TEXT NOT NULL,
    "access_level" TEXT NOT NULL,
    "allowed_hosts" JSONB,
    "unrestricted" BOOLEAN NOT NULL DEFAULT false,
    "message" TEXT,
    "status" TEXT NOT NULL DEFAULT 'pending',
    "token_digest" BYTEA,
    "token_expires_at" TIMESTAMPTZ(3) NOT NULL,
    "created_by" UUID NOT NULL,
    "inviter_label" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3),
    "claimed_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),
    "recipient_tenant_id" UUID,
    "recipient_tenant_name" TEXT,
    "linked_secret_id" UUID,

    CONSTRAINT "secret_shares_pkey" PRIMARY KEY ("id"),
    CONSTRAINT secret_shares_level CHECK (access_level IN ('use', 'view', 'manage')),
    CONSTRAINT secret_shares_status CHECK (status IN ('pending', 'active', 'declined', 'revoked', 'left')),
    CONSTRAINT secret_shares_hosts CHECK (unrestricted = (allowed_hosts IS NULL)),
    CONSTRAINT secret_shares_linked CHECK (status <> 'active' OR (recipient_tenant_id IS NOT NULL AND linked_secret_id IS NOT NULL))
);
CREATE UNIQUE INDEX "secret_shares_token_digest_key" ON "secret_shares"("token_digest");
CREATE INDEX "secret_shares_tenant_id_sandbox_secret_id_idx" ON "secret_shares"("tenant_id", "sandbox", "secret_id");
CREATE INDEX "secret_shares_secret_id_idx" ON "secret_shares"("secret_id");
CREATE INDEX "secret_shares_recipient_email_idx" ON "secret_shares"("recipient_email");
CREATE INDEX "secret_shares_recipient_tenant_id_idx" ON "secret_shares"("recipient_tenant_id");

-- Uses of a share by host and day: counts, never payloads. The newest of a share is its last use.
CREATE TABLE "secret_share_days" (
    "share_id" UUID NOT NULL,
    "day" DATE NOT NULL,
    "host" TEXT NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "calls" BIGINT NOT NULL DEFAULT 0,
    "last_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "secret_share_days_pkey" PRIMARY KEY ("share_id", "day", "host")
);
ALTER TABLE secret_share_days ADD CONSTRAINT secret_share_days_share_id_fkey FOREIGN KEY (share_id) REFERENCES secret_shares(id) ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE secrets ADD COLUMN "linked_share_id" UUID, ADD COLUMN "link_revision" INTEGER NOT NULL DEFAULT 0;
CREATE INDEX "secrets_linked_share_id_idx" ON "secrets"("linked_share_id") WHERE linked_share_id IS NOT NULL;

SELECT register_table('secret_shares', 'space');
SELECT register_table('secret_share_days', 'space', privileges => 'SELECT');

-- What a share is at an instant: both ends of its life may come without a write.
CREATE FUNCTION share_state(s secret_shares, at timestamptz) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN s.status = 'pending' AND (s.token_expires_at <= at OR s.expires_at <= at) THEN 'expired'
    WHEN s.status = 'active' AND s.expires_at <= at THEN 'expired' ELSE s.status END $$;

-- ---------------------------------------------------------------------------------------------------------------------------------------
-- The recipient's side.
CREATE FUNCTION offered_to(person uuid) RETURNS text LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
  SELECT lower(u.email) FROM users u JOIN memberships m ON m.user_id = u.id
  WHERE u.id = person AND u.email_verified_at IS NOT NULL AND u.disabled_at IS NULL AND m.tenant_id = app_tenant() AND m.removed_at IS NULL $$;

CREATE FUNCTION share_offers(person uuid, at timestamptz) RETURNS TABLE (id uuid, secret_name text, owner_workspace text, offered_by text, access_level text,
  allowed_hosts jsonb, unrestricted boolean, environment text, message text, created_at timestamptz, expires_at timestamptz, offer_expires_at timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
  SELECT s.id, s.secret_name, t.name, s.inviter_label, s.access_level, s.allowed_hosts, s.unrestricted, s.environment_name, s.message, s.created_at, s.expires_at, s.token_expires_at
  FROM secret_shares s JOIN tenants t ON t.id = s.tenant_id AND t.deleted_at IS NULL
  WHERE s.recipient_email = offered_to(person) AND s.sandbox = app_sandbox() AND s.tenant_id <> app_tenant() AND share_state(s, at) = 'pending'
  ORDER BY s.created_at DESC, s.id $$;

-- Uses the claim up. Of two at once exactly one gets the row.
CREATE FUNCTION claim_share(digest bytea, person uuid, linked uuid, at timestamptz) RETURNS TABLE (id uuid, secret_type text, secret_name text, owner_workspace text)
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
  UPDATE secret_shares s SET status = 'active', token_digest = NULL, claimed_at = at, updated_at = at, recipient_tenant_id = app_tenant(), linked_secret_id = linked,
    recipient_tenant_name = (SELECT r.name FROM tenants r WHERE r.id = app_tenant())
  FROM tenants t, secrets o
  WHERE s.token_digest = digest AND share_state(s, at) = 'pending' AND s.recipient_email = offered_to(person) AND s.sandbox = app_sandbox() AND s.tenant_id <> app_tenant()
    AND t.id = s.tenant_id AND t.deleted_at IS NULL AND o.id = s.secret_id AND o.tenant_id = s.tenant_id AND o.sandbox = s.sandbox AND o.linked_share_id IS NULL
  RETURNING s.id, o.secret_type, s.secret_name, t.name $$;

CREATE FUNCTION decline_share(share uuid, person uuid, at timestamptz) RETURNS TABLE (id uuid, secret_name text, owner_workspace text)
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
  UPDATE secret_shares s SET status = 'declined', token_digest = NULL, updated_at = at, recipient_tenant_id = app_tenant()
  FROM tenants t
  WHERE s.id = share AND share_state(s, at) = 'pending' AND s.recipient_email = offered_to(person) AND s.sandbox = app_sandbox() AND s.tenant_id <> app_tenant()
    AND t.id = s.tenant_id AND t.deleted_at IS NULL
  RETURNING s.id, s.secret_name, t.name $$;

-- Where the links of this workspace lead. A link whose share is gone is revoked.
CREATE FUNCTION secret_links(ids uuid[], at timestamptz) RETURNS TABLE (linked_secret_id uuid, share_id uuid, state text, owner_tenant_id uuid, owner_workspace text, secret_id uuid,
  environment text, access_level text, allowed_hosts jsonb, unrestricted boolean, share_expires_at timestamptz, claimed_at timestamptz,
  value_version integer, value_updated_at timestamptz, value_expires_at timestamptz, strict boolean, rotated_at timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
  SELECT l.id, l.linked_share_id, CASE WHEN s.id IS NULL OR t.id IS NULL THEN 'revoked' ELSE share_state(s, at) END, s.tenant_id, t.name, s.secret_id,
    s.environment_name, s.access_level, s.allowed_hosts, s.unrestricted, s.expires_at, s.claimed_at,
    e.value_version, e.updated_at, coalesce(e.expires_at_override, o.expires_at), o.strict_expiry_enforcement, v.created_at
  FROM secrets l
    LEFT JOIN secret_shares s ON s.id = l.linked_share_id AND s.linked_secret_id = l.id AND s.recipient_tenant_id = l.tenant_id AND s.sandbox = l.sandbox
    LEFT JOIN tenants t ON t.id = s.tenant_id AND t.deleted_at IS NULL
    LEFT JOIN secrets o ON o.id = s.secret_id AND o.tenant_id = s.tenant_id AND o.sandbox = s.sandbox AND share_state(s, at) = 'active'
    LEFT JOIN secret_environments e ON e.secret_id = o.id AND e.environment_name = s.environment_name AND e.current_value_id IS NOT NULL
    LEFT JOIN secret_values v ON v.id = e.current_value_id
  WHERE l.tenant_id = app_tenant() AND l.sandbox = app_sandbox() AND l.linked_share_id IS NOT NULL AND l.id = ANY (ids) $$;

-- The workspace behind a share that this workspace holds, or has just declined. The share stays locked until the end of the transaction.
CREATE FUNCTION sharing_workspace(share uuid) RETURNS TABLE (tenant_id uuid, secret_id uuid, secret_name text, recipient_tenant_name text)
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
  SELECT s.tenant_id, s.secret_id, s.secret_name, (SELECT r.name FROM tenants r WHERE r.id = app_tenant())
  FROM secret_shares s JOIN tenants t ON t.id = s.tenant_id AND t.deleted_at IS NULL
  WHERE s.id = share AND s.recipient_tenant_id = app_tenant() AND s.sandbox = app_sandbox() FOR SHARE OF s $$;

-- ---------------------------------------------------------------------------------------------------------------------------------------
-- The owner's side: the offer goes to its address by mail, from inside row-level security. Nobody else is mailed this way.
CREATE FUNCTION mail_share_recipient(mail uuid, share uuid, mail_kind text, mail_subject text, mail_text text, mail_html text, mail_sealed bytea, mail_root_key_id text, at timestamptz) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
DECLARE address text;
BEGIN
  SELECT recipient_email INTO address FROM secret_shares s WHERE s.id = share AND s.tenant_id = app_tenant() AND s.sandbox = app_sandbox();
  IF address IS NULL THEN RAISE EXCEPTION 'not a share of this workspace' USING ERRCODE = 'insufficient_privilege'; END IF;
  INSERT INTO mails (id, recipient, kind, subject, text, html, sealed, root_key_id, created_at)
    VALUES (mail, address, mail_kind, mail_subject, mail_text, mail_html, mail_sealed, mail_root_key_id, at);
END $$;

-- ---------------------------------------------------------------------------------------------------------------------------------------
-- What a linked secret leads to has changed: its own row changes with it.
CREATE FUNCTION touch_links(secret uuid) RETURNS void LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
  UPDATE secrets l SET link_revision = link_revision + 1 FROM secret_shares s
    WHERE s.secret_id = secret AND s.status = 'active' AND l.id = s.linked_secret_id AND l.linked_share_id = s.id $$;

CREATE FUNCTION share_changed() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
BEGIN
  UPDATE secrets SET link_revision = link_revision + 1 WHERE id = OLD.linked_secret_id AND linked_share_id = OLD.id;
  RETURN NULL;
END $$;
CREATE TRIGGER touch_link AFTER UPDATE OF status, access_level, allowed_hosts, expires_at, environment_name OR DELETE ON secret_shares
  FOR EACH ROW WHEN (OLD.linked_secret_id IS NOT NULL) EXECUTE FUNCTION share_changed();

CREATE FUNCTION shared_secret_changed() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
BEGIN
  PERFORM touch_links(NEW.id);
  RETURN NULL;
END $$;
CREATE TRIGGER touch_links AFTER UPDATE OF expires_at, strict_expiry_enforcement, allowed_hosts ON secrets
  FOR EACH ROW WHEN (NEW.linked_share_id IS NULL) EXECUTE FUNCTION shared_secret_changed();

CREATE FUNCTION shared_value_changed() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN PERFORM touch_links(OLD.secret_id); ELSE PERFORM touch_links(NEW.secret_id); END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER touch_links AFTER INSERT OR UPDATE OR DELETE ON secret_environments FOR EACH ROW EXECUTE FUNCTION shared_value_changed();

-- A secret that goes ends what hangs on it: its shares are revoked, and a share whose linked secret goes is left.
CREATE FUNCTION secret_gone() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
BEGIN
  UPDATE secret_shares SET status = 'revoked', revoked_at = now(), updated_at = now(), token_digest = NULL WHERE secret_id = OLD.id AND status IN ('pending', 'active');
  IF OLD.linked_share_id IS NOT NULL THEN
    UPDATE secret_shares SET status = 'left', updated_at = now() WHERE id = OLD.linked_share_id AND linked_secret_id = OLD.id AND status = 'active';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER end_shares AFTER DELETE ON secrets FOR EACH ROW EXECUTE FUNCTION secret_gone();

CREATE FUNCTION sharing_workspace_changed() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
BEGIN
  UPDATE secrets l SET link_revision = link_revision + 1 FROM secret_shares s
    WHERE s.tenant_id = NEW.id AND s.status = 'active' AND l.id = s.linked_secret_id AND l.linked_share_id = s.id;
  RETURN NULL;
END $$;
CREATE TRIGGER touch_links AFTER UPDATE OF deleted_at ON tenants FOR EACH ROW WHEN (OLD.deleted_at IS DISTINCT FROM NEW.deleted_at) EXECUTE FUNCTION sharing_workspace_changed();

REVOKE ALL ON FUNCTION share_state, offered_to, share_offers, claim_share, decline_share, secret_links, sharing_workspace, mail_share_recipient, touch_links FROM PUBLIC;
GRANT EXECUTE ON FUNCTION share_state, share_offers, claim_share, decline_share, secret_links, sharing_workspace, mail_share_recipient TO sallyport_app;
