-- AlterTable
ALTER TABLE "users" ADD COLUMN     "webauthn_user_id" BYTEA;

-- CreateTable
CREATE TABLE "webauthn_credentials" (
    "id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "credential_id" TEXT NOT NULL,
    "public_key" BYTEA NOT NULL,
    "algorithm" INTEGER NOT NULL,
    "counter" BIGINT NOT NULL DEFAULT 0,
    "transports" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "aaguid" TEXT NOT NULL,
    "backup_eligible" BOOLEAN NOT NULL,
    "backed_up" BOOLEAN NOT NULL,
    "cloned_at" TIMESTAMPTZ(3),
    "last_used_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "webauthn_credentials_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "webauthn_challenges" (
    "id" UUID NOT NULL,
    "digest" BYTEA NOT NULL,
    "purpose" TEXT NOT NULL,
    "user_id" UUID,
    "session_id" UUID,
    "pending_login_id" UUID,
    "action_scope" TEXT,
    "kind" TEXT,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "used_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "webauthn_challenges_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "totp_secrets" (
    "id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "sealed" BYTEA NOT NULL,
    "root_key_id" TEXT NOT NULL,
    "last_step" BIGINT NOT NULL DEFAULT 0,
    "setup_digest" BYTEA,
    "expires_at" TIMESTAMPTZ(3),
    "enabled_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "totp_secrets_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "recovery_codes" (
    "id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "digest" BYTEA NOT NULL,
    "used_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "recovery_codes_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "pending_logins" (
    "id" UUID NOT NULL,
    "digest" BYTEA NOT NULL,
    "user_id" UUID NOT NULL,
    "method" TEXT NOT NULL,
    "keep" BOOLEAN NOT NULL DEFAULT false,
    "scope_tenant_id" UUID,
    "tries" INTEGER NOT NULL DEFAULT 0,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "used_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "pending_logins_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "step_up_verifications" (
    "id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "session_id" UUID NOT NULL,
    "tenant_id" UUID,
    "action_scope" TEXT NOT NULL,
    "method" TEXT NOT NULL,
    "token_digest" BYTEA NOT NULL,
    "verified_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "consumed_at" TIMESTAMPTZ(3),
    "consumed_request_id" TEXT,

    CONSTRAINT "step_up_verifications_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "webauthn_credentials_credential_id_key" ON "webauthn_credentials"("credential_id");

-- CreateIndex
CREATE INDEX "webauthn_credentials_user_id_idx" ON "webauthn_credentials"("user_id");

-- CreateIndex
CREATE UNIQUE INDEX "webauthn_challenges_digest_key" ON "webauthn_challenges"("digest");

-- CreateIndex
CREATE INDEX "webauthn_challenges_user_id_idx" ON "webauthn_challenges"("user_id");

-- CreateIndex
CREATE INDEX "webauthn_challenges_session_id_idx" ON "webauthn_challenges"("session_id");

-- CreateIndex
CREATE INDEX "webauthn_challenges_pending_login_id_idx" ON "webauthn_challenges"("pending_login_id");

-- CreateIndex
CREATE INDEX "webauthn_challenges_expires_at_idx" ON "webauthn_challenges"("expires_at");

-- CreateIndex
CREATE UNIQUE INDEX "totp_secrets_setup_digest_key" ON "totp_secrets"("setup_digest");

-- CreateIndex
CREATE INDEX "totp_secrets_user_id_idx" ON "totp_secrets"("user_id");

-- CreateIndex
CREATE UNIQUE INDEX "recovery_codes_user_id_digest_key" ON "recovery_codes"("user_id", "digest");

-- CreateIndex
CREATE UNIQUE INDEX "pending_logins_digest_key" ON "pending_logins"("digest");

-- CreateIndex
CREATE INDEX "pending_logins_user_id_idx" ON "pending_logins"("user_id");

-- CreateIndex
CREATE INDEX "pending_logins_expires_at_idx" ON "pending_logins"("expires_at");

-- CreateIndex
CREATE UNIQUE INDEX "step_up_verifications_token_digest_key" ON "step_up_verifications"("token_digest");

-- CreateIndex
CREATE INDEX "step_up_verifications_session_id_action_scope_idx" ON "step_up_verifications"("session_id", "action_scope");

-- CreateIndex
CREATE INDEX "step_up_verifications_user_id_idx" ON "step_up_verifications"("user_id");

-- CreateIndex
CREATE INDEX "step_up_verifications_expires_at_idx" ON "step_up_verifications"("expires_at");

-- CreateIndex
CREATE UNIQUE INDEX "users_webauthn_user_id_key" ON "users"("webauthn_user_id");

-- AddForeignKey
ALTER TABLE "webauthn_credentials" ADD CONSTRAINT "webauthn_credentials_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "webauthn_challenges" ADD CONSTRAINT "webauthn_challenges_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "webauthn_challenges" ADD CONSTRAINT "webauthn_challenges_session_id_fkey" FOREIGN KEY ("session_id") REFERENCES "sessions"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "webauthn_challenges" ADD CONSTRAINT "webauthn_challenges_pending_login_id_fkey" FOREIGN KEY ("pending_login_id") REFERENCES "pending_logins"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "totp_secrets" ADD CONSTRAINT "totp_secrets_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "recovery_codes" ADD CONSTRAINT "recovery_codes_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "pending_logins" ADD CONSTRAINT "pending_logins_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "step_up_verifications" ADD CONSTRAINT "step_up_verifications_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "step_up_verifications" ADD CONSTRAINT "step_up_verifications_session_id_fkey" FOREIGN KEY ("session_id") REFERENCES "sessions"("id") ON DELETE CASCADE ON UPDATE CASCADE;



-- What people prove themselves with lies outside of the workspaces: the role of a workspace reaches none of these tables, only the functions below.
REVOKE ALL ON webauthn_credentials, webauthn_challenges, totp_secrets, recovery_codes, pending_logins, step_up_verifications FROM sallyport_app;

-- Whether a person has a second factor. A passkey that was refused as a copy still counts: it must not turn the account into one without a factor.
CREATE FUNCTION has_factor(person uuid) RETURNS boolean LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
  SELECT EXISTS (SELECT FROM totp_secrets t WHERE t.user_id = person AND t.enabled_at IS NOT NULL)
    OR EXISTS (SELECT FROM webauthn_credentials c WHERE c.user_id = person) $$;
REVOKE ALL ON FUNCTION has_factor FROM PUBLIC;
GRANT EXECUTE ON FUNCTION has_factor TO sallyport_app;

-- Uses up one verification: that of the token, or the oldest that fits. Of several calls at once each gets another one or none.
CREATE FUNCTION take_step_up(person uuid, in_session uuid, in_tenant uuid, scope text, token bytea, request text, at timestamptz)
RETURNS TABLE (id uuid, method text) LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
  UPDATE step_up_verifications v SET consumed_at = at, consumed_request_id = request, tenant_id = coalesce(v.tenant_id, in_tenant)
    WHERE v.id = (SELECT s.id FROM step_up_verifications s
      WHERE s.user_id = person AND s.session_id = in_session AND s.action_scope = scope AND (s.tenant_id IS NULL OR s.tenant_id = in_tenant)
        AND (token IS NULL OR s.token_digest = token) AND s.consumed_at IS NULL AND s.expires_at > at
      ORDER BY s.verified_at LIMIT 1 FOR UPDATE SKIP LOCKED)
    RETURNING v.id, v.method $$;
REVOKE ALL ON FUNCTION take_step_up FROM PUBLIC;
GRANT EXECUTE ON FUNCTION take_step_up TO sallyport_app;

-- Sign-out and a change of password, factors or role drop what the person has confirmed and not used yet. The argument is the column that names whom.
CREATE FUNCTION drop_step_ups() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
DECLARE changed jsonb; named uuid;
BEGIN
  IF TG_OP = 'DELETE' THEN changed := to_jsonb(OLD); ELSE changed := to_jsonb(NEW); END IF;
  named := (changed ->> TG_ARGV[1])::uuid;
  IF TG_ARGV[0] = 'session' THEN
    DELETE FROM step_up_verifications WHERE session_id = named AND consumed_at IS NULL;
  ELSE
    DELETE FROM step_up_verifications WHERE user_id = named AND consumed_at IS NULL;
  END IF;
  RETURN NULL;
END $$;
REVOKE ALL ON FUNCTION drop_step_ups FROM PUBLIC;
CREATE TRIGGER step_ups_dropped AFTER UPDATE OF revoked_at ON sessions FOR EACH ROW WHEN (NEW.revoked_at IS NOT NULL) EXECUTE FUNCTION drop_step_ups('session', 'id');
CREATE TRIGGER step_ups_dropped AFTER UPDATE OF password_hash, email, disabled_at ON users FOR EACH ROW
  WHEN ((OLD.password_hash, OLD.email, OLD.disabled_at) IS DISTINCT FROM (NEW.password_hash, NEW.email, NEW.disabled_at)) EXECUTE FUNCTION drop_step_ups('user', 'id');
CREATE TRIGGER step_ups_dropped AFTER UPDATE OF role, reveal_secrets, migration_reviewer, removed_at ON memberships FOR EACH ROW
  WHEN ((OLD.role, OLD.reveal_secrets, OLD.migration_reviewer, OLD.removed_at) IS DISTINCT FROM (NEW.role, NEW.reveal_secrets, NEW.migration_reviewer, NEW.removed_at))
  EXECUTE FUNCTION drop_step_ups('user', 'user_id');
CREATE TRIGGER step_ups_dropped AFTER INSERT OR DELETE OR UPDATE OF cloned_at ON webauthn_credentials FOR EACH ROW EXECUTE FUNCTION drop_step_ups('user', 'user_id');
CREATE TRIGGER step_ups_dropped AFTER DELETE OR UPDATE OF enabled_at ON totp_secrets FOR EACH ROW EXECUTE FUNCTION drop_step_ups('user', 'user_id');
