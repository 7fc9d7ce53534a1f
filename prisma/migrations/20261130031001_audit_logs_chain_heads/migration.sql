-- Every new entry of the critical chain carries a MAC over its columns, under a key that only the root key opens. Entries from before have none: the
-- baseline entry of their chain holds a digest of them.
ALTER TABLE audit_log_critical ADD COLUMN mac BYTEA;

-- The sealed head of each chain, renewed with each entry. The operator's chain has the nil workspace.
CREATE TABLE "audit_chain_heads" (
    "chain_id" TEXT NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sequence_number" BIGINT NOT NULL,
    "row_hash" BYTEA NOT NULL,
    "epoch" BIGINT NOT NULL,
    "baseline" BIGINT,
    "checkpoints" INTEGER NOT NULL DEFAULT 0,
    "failure" TEXT,
    "failed_sequence" BIGINT,
    "failed_at" TIMESTAMPTZ(3),
    "reported" BOOLEAN NOT NULL DEFAULT false,
    "mac" BYTEA NOT NULL,

    CONSTRAINT "audit_chain_heads_pkey" PRIMARY KEY ("chain_id")
);
SELECT register_table('audit_chain_heads', 'tenant', privileges => 'SELECT, INSERT, UPDATE');
