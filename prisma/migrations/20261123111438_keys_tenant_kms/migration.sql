-- A customer's own KMS (interface rule 31 §4, §7): which key of it wraps the workspace's master keys, and whether it answers.
CREATE TABLE "tenant_kms_configs" (
    "tenant_id" UUID NOT NULL,
    "provider" TEXT NOT NULL,
    "kms_key_ref" TEXT NOT NULL,
    -- Roles and IDs, never credentials.
    "config" JSONB NOT NULL,
    "sealed_since" TIMESTAMPTZ(3),
    -- access_denied, unreachable, or key_revoked for ever; set with sealed_since.
    "sealed_reason" TEXT,
    "last_verified_at" TIMESTAMPTZ(3),
    "last_verify_error" TEXT,
    -- When a worker last asked the KMS by itself.
    "polled_at" TIMESTAMPTZ(3),
    -- Whether the Owners were told that it is sealed.
    "told_sealed" BOOLEAN NOT NULL DEFAULT false,
    -- The workspace leaves its KMS: the row goes when nothing needs a key that the KMS wraps.
    "leaving" BOOLEAN NOT NULL DEFAULT false,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "tenant_kms_configs_pkey" PRIMARY KEY ("tenant_id"),
    CONSTRAINT "tenant_kms_configs_sealed" CHECK (("sealed_since" IS NULL) = ("sealed_reason" IS NULL))
);
SELECT register_table('tenant_kms_configs', 'tenant');
CREATE TRIGGER announce AFTER INSERT OR DELETE OR UPDATE OF sealed_reason ON tenant_kms_configs FOR EACH ROW EXECUTE FUNCTION announce_tenant();

-- As used for this row: a later change of the configuration doesn't change how older versions are unwrapped.
ALTER TABLE "tenant_master_keys" ADD COLUMN "kms_config" JSONB;

-- What a trust policy of AWS asks for, so that no other workspace can use the customer's role (the confused deputy).
ALTER TABLE "tenants" ADD COLUMN "kms_external_id" UUID NOT NULL DEFAULT gen_random_uuid();
