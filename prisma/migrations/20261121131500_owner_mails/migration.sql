-- A mail to every Owner of a workspace, written with the change it tells of. The row-level-security role may neither read nor write mails, so it
-- reaches them through this function only, and only those of the workspace it acts in.
CREATE FUNCTION mail_owners(tenant uuid, mail_kind text, mail_subject text, mail_text text, mail_html text, at timestamptz) RETURNS SETOF uuid
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
BEGIN
  IF app_tenant() IS NOT NULL AND app_tenant() <> tenant THEN
    RAISE EXCEPTION 'another workspace' USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN QUERY INSERT INTO mails (id, recipient, kind, subject, text, html, created_at)
    SELECT gen_random_uuid(), u.email, mail_kind, mail_subject, mail_text, mail_html, at
    FROM memberships m JOIN users u ON u.id = m.user_id
    WHERE m.tenant_id = tenant AND m.role = 'owner' AND m.removed_at IS NULL AND u.disabled_at IS NULL
    RETURNING mails.id;
END $$;
REVOKE ALL ON FUNCTION mail_owners FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mail_owners TO sallyport_app;

-- How many days ahead of its end the last mail about an access key was: 14, then 3.
ALTER TABLE api_keys ADD COLUMN expiry_told integer;

-- SHA-256 of the device cookie a session was begun with: the browser is known again whatever its name and network.
ALTER TABLE sessions ADD COLUMN device_digest bytea;
