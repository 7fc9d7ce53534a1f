-- Both tables outlive what they name: deleting a workspace or an account must not give its people a fresh budget within the window.
CREATE TABLE "reveal_ledger" (
    "id" BIGSERIAL NOT NULL,
    "user_id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "route" TEXT NOT NULL,
    "request_id" TEXT NOT NULL,

    CONSTRAINT "reveal_ledger_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "reveal_ledger_user_id_at_idx" ON "reveal_ledger"("user_id", "at");
CREATE INDEX "reveal_ledger_at_idx" ON "reveal_ledger"("at");

CREATE TABLE "reveal_notices" (
    "tenant_id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "told_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "reveal_notices_pkey" PRIMARY KEY ("tenant_id","user_id")
);

-- A person's window spans workspaces, so no transaction of one workspace may read or write it.
SELECT register_table('reveal_ledger', 'tenant', privileges => 'SELECT');
SELECT register_table('reveal_notices', 'tenant', privileges => 'SELECT');
