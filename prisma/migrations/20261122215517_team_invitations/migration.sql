ALTER TABLE memberships ADD COLUMN "last_active_at" TIMESTAMPTZ(3);

CREATE TABLE "invitations" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "email" TEXT NOT NULL,
    "role" TEXT NOT NULL,
    "reveal_secrets" BOOLEAN NOT NULL DEFAULT false,
    "token_digest" BYTEA NOT NULL,
    "invited_by" UUID NOT NULL,
    "inviter_label" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "sent_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "accepted_at" TIMESTAMPTZ(3),
    "accepted_by" UUID,
    "revoked_at" TIMESTAMPTZ(3),
    "revoked_by" UUID,

    CONSTRAINT "invitations_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "invitations_token_digest_key" ON "invitations"("token_digest");
CREATE INDEX "invitations_tenant_id_created_at_idx" ON "invitations"("tenant_id", "created_at");
ALTER TABLE invitations ADD CONSTRAINT invitations_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE ON UPDATE CASCADE;
-- One pending invitation per address and workspace: a second one replaces the first.
CREATE UNIQUE INDEX invitations_one_pending ON invitations (tenant_id, email) WHERE accepted_at IS NULL AND revoked_at IS NULL;
SELECT register_table('invitations', 'tenant', privileges => 'SELECT, INSERT, UPDATE');

-- A mail to a member of the workspace or to somebody it invited, from inside row-level security. Any other address is refused.
CREATE FUNCTION mail_colleague(mail uuid, address text, mail_kind text, mail_subject text, mail_text text, mail_html text, mail_sealed bytea, mail_root_key_id text, at timestamptz) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM memberships m JOIN users u ON u.id = m.user_id WHERE m.tenant_id = app_tenant() AND u.email = address)
    AND NOT EXISTS (SELECT FROM invitations i WHERE i.tenant_id = app_tenant() AND i.email = address AND i.accepted_at IS NULL AND i.revoked_at IS NULL) THEN
    RAISE EXCEPTION 'not an address of this workspace' USING ERRCODE = 'insufficient_privilege';
  END IF;
  INSERT INTO mails (id, recipient, kind, subject, text, html, sealed, root_key_id, created_at)
    VALUES (mail, address, mail_kind, mail_subject, mail_text, mail_html, mail_sealed, mail_root_key_id, at);
END $$;

-- Sessions lie outside row-level security. Those of a member that a workspace may end are bound to it, or act in it now: by choice, or because it is
-- the only workspace of the person.
CREATE FUNCTION sessions_in_workspace(person uuid, at timestamptz) RETURNS SETOF sessions
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
  SELECT s.* FROM sessions s WHERE s.user_id = person AND s.revoked_at IS NULL AND s.expires_at > at
    AND EXISTS (SELECT FROM memberships m WHERE m.user_id = person AND m.tenant_id = app_tenant())
    AND (s.scope_tenant_id = app_tenant() OR s.active_tenant_id = app_tenant() OR (s.scope_tenant_id IS NULL AND s.active_tenant_id IS NULL
      AND NOT EXISTS (SELECT FROM memberships m WHERE m.user_id = person AND m.tenant_id <> app_tenant() AND m.removed_at IS NULL))) $$;
CREATE FUNCTION count_workspace_sessions(person uuid, at timestamptz) RETURNS integer
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
  SELECT count(*)::integer FROM sessions_in_workspace(person, at) $$;

-- Signs the member out of this workspace: ends those sessions.
CREATE FUNCTION end_workspace_sessions(person uuid, at timestamptz) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
DECLARE ended integer;
BEGIN
  UPDATE sessions SET revoked_at = at WHERE id IN (SELECT id FROM sessions_in_workspace(person, at));
  GET DIAGNOSTICS ended = ROW_COUNT;
  RETURN ended;
END $$;

-- Cuts a member who leaves off from this workspace: a session bound to it ends, any other goes on elsewhere.
CREATE FUNCTION leave_workspace_sessions(person uuid, at timestamptz) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
DECLARE cut integer;
BEGIN
  UPDATE sessions SET revoked_at = CASE WHEN scope_tenant_id = app_tenant() THEN at END, active_tenant_id = NULL
    WHERE id IN (SELECT id FROM sessions_in_workspace(person, at));
  GET DIAGNOSTICS cut = ROW_COUNT;
  RETURN cut;
END $$;

REVOKE ALL ON FUNCTION mail_colleague, sessions_in_workspace, count_workspace_sessions, end_workspace_sessions, leave_workspace_sessions FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mail_colleague, count_workspace_sessions, end_workspace_sessions, leave_workspace_sessions TO sallyport_app;
