-- An end that is moved again and again is told of once a day for each threshold, so each keeps a row of its own with the time of its mail. The rows hang
-- on the secret: one whose value is taken away and stored again is the same secret.
ALTER TABLE secret_expiry_mails ADD COLUMN "secret_id" UUID, ADD COLUMN "told_at" TIMESTAMPTZ(3);
UPDATE secret_expiry_mails m SET secret_id = e.secret_id, told_at = m.ends_at - m.days * interval '1 day' FROM secret_environments e WHERE e.id = m.secret_environment_id;
ALTER TABLE secret_expiry_mails ALTER COLUMN "secret_id" SET NOT NULL, ALTER COLUMN "told_at" SET NOT NULL,
    DROP CONSTRAINT "secret_expiry_mails_pkey",
    DROP CONSTRAINT "secret_expiry_mails_secret_environment_id_fkey",
    ADD CONSTRAINT "secret_expiry_mails_pkey" PRIMARY KEY ("secret_id","days","secret_environment_id"),
    ADD CONSTRAINT "secret_expiry_mails_secret_id_tenant_id_sandbox_fkey" FOREIGN KEY ("secret_id", "tenant_id", "sandbox") REFERENCES "secrets"("id", "tenant_id", "sandbox") ON DELETE CASCADE ON UPDATE CASCADE;
