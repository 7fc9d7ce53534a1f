CREATE TABLE "ai_stored_objects" (
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "hash" BYTEA NOT NULL,
    "agent_id" UUID NOT NULL,
    "token_id" UUID NOT NULL,
    "user" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "ai_stored_objects_pkey" PRIMARY KEY ("tenant_id","sandbox","agent_id","hash")
);

CREATE TABLE "ai_cache_entries" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "agent_id" UUID NOT NULL,
    "key" BYTEA NOT NULL,
    "value_ct" BYTEA NOT NULL,
    "cek_wrapped" BYTEA NOT NULL,
    "tmk_version" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "ai_cache_entries_pkey" PRIMARY KEY ("id")
);

CREATE INDEX "ai_stored_objects_expires_at_idx" ON "ai_stored_objects"("expires_at");

CREATE UNIQUE INDEX "ai_cache_entries_tenant_id_sandbox_agent_id_key_key" ON "ai_cache_entries"("tenant_id", "sandbox", "agent_id", "key");

CREATE INDEX "ai_cache_entries_expires_at_idx" ON "ai_cache_entries"("expires_at");

ALTER TABLE "ai_stored_objects" ADD CONSTRAINT "ai_stored_objects_agent_id_tenant_id_sandbox_fkey" FOREIGN KEY ("agent_id", "tenant_id", "sandbox") REFERENCES "ai_agents"("id", "tenant_id", "sandbox") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "ai_cache_entries" ADD CONSTRAINT "ai_cache_entries_agent_id_tenant_id_sandbox_fkey" FOREIGN KEY ("agent_id", "tenant_id", "sandbox") REFERENCES "ai_agents"("id", "tenant_id", "sandbox") ON DELETE CASCADE ON UPDATE CASCADE;

SELECT register_table('ai_stored_objects', 'space');
SELECT register_table('ai_cache_entries', 'space');
