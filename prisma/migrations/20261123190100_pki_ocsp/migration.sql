CREATE TABLE "pki_responders" (
    "id" UUID NOT NULL,
    "intermediate_id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "serial_hex" TEXT NOT NULL,
    "certificate" BYTEA NOT NULL,
    "value_ct" BYTEA NOT NULL,
    "cek_wrapped" BYTEA NOT NULL,
    "tmk_version" INTEGER NOT NULL,
    "not_after" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "pki_responders_pkey" PRIMARY KEY ("id")
);

CREATE UNIQUE INDEX "pki_responders_intermediate_id_key" ON "pki_responders"("intermediate_id");
CREATE UNIQUE INDEX "pki_responders_intermediate_id_tenant_id_sandbox_key" ON "pki_responders"("intermediate_id", "tenant_id", "sandbox");
CREATE INDEX "pki_responders_tenant_id_tmk_version_idx" ON "pki_responders"("tenant_id", "tmk_version");

ALTER TABLE "pki_responders" ADD CONSTRAINT "pki_responders_intermediate_id_tenant_id_sandbox_fkey" FOREIGN KEY ("intermediate_id", "tenant_id", "sandbox") REFERENCES "pki_intermediates"("id", "tenant_id", "sandbox") ON DELETE CASCADE ON UPDATE CASCADE;

-- An intermediate that is revoked or has ended answers no more, and its responder's key goes with its own.
CREATE FUNCTION pki_responder_ends() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM pki_responders WHERE intermediate_id = NEW.id;
  RETURN NULL;
END $$;
CREATE TRIGGER pki_responder_ends AFTER UPDATE OF status ON pki_intermediates
  FOR EACH ROW WHEN (NEW.status IN ('revoked', 'expired')) EXECUTE FUNCTION pki_responder_ends();

SELECT register_table('pki_responders', 'space');
