-- The mail to Owners becomes one to people of given roles: what ends or runs out is also the Admins' to mend.
DROP FUNCTION mail_owners;
CREATE FUNCTION mail_roles(tenant uuid, roles text[], mail_kind text, mail_subject text, mail_text text, mail_html text, at timestamptz) RETURNS SETOF uuid
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
BEGIN
  IF app_tenant() IS NOT NULL AND app_tenant() <> tenant THEN
    RAISE EXCEPTION 'another workspace' USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN QUERY INSERT INTO mails (id, recipient, kind, subject, text, html, created_at)
    SELECT gen_random_uuid(), u.email, mail_kind, mail_subject, mail_text, mail_html, at
    FROM memberships m JOIN users u ON u.id = m.user_id
    WHERE m.tenant_id = tenant AND m.role = ANY (roles) AND m.removed_at IS NULL AND u.disabled_at IS NULL
    RETURNING mails.id;
END $$;
REVOKE ALL ON FUNCTION mail_roles FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mail_roles TO sallyport_app;

-- The last mail about the end of a secret's value in one environment: the end it told of, and how many days ahead it was (30, 7, 1, 0). A table of its
-- own, because a change of the environment's row is announced to every gateway.
CREATE TABLE "secret_expiry_mails" (
    "secret_environment_id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "ends_at" TIMESTAMPTZ(3) NOT NULL,
    "days" INTEGER NOT NULL,

    CONSTRAINT "secret_expiry_mails_pkey" PRIMARY KEY ("secret_environment_id")
);
ALTER TABLE "secret_expiry_mails" ADD CONSTRAINT "secret_expiry_mails_secret_environment_id_fkey" FOREIGN KEY ("secret_environment_id") REFERENCES "secret_environments"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE secret_expiry_mails ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_space ON secret_expiry_mails TO sallyport_app USING (tenant_id = app_tenant() AND sandbox = app_sandbox()) WITH CHECK (tenant_id = app_tenant() AND sandbox = app_sandbox());

-- The last mail about the month's calls: the share told of, of which limit.
ALTER TABLE usage_counters ADD COLUMN told_percent integer, ADD COLUMN told_limit bigint;
