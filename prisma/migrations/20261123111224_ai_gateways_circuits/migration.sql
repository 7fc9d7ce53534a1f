CREATE TABLE "ai_circuits" (
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "agent_id" UUID NOT NULL,
    "route_id" UUID NOT NULL,
    "failures" INTEGER NOT NULL,
    "requests" INTEGER NOT NULL,
    "cause" TEXT NOT NULL,
    "opened_at" TIMESTAMPTZ(3) NOT NULL,
    "open_until" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "ai_circuits_pkey" PRIMARY KEY ("tenant_id","sandbox","agent_id","route_id")
);

ALTER TABLE "ai_circuits" ADD CONSTRAINT "ai_circuits_agent_id_tenant_id_sandbox_fkey" FOREIGN KEY ("agent_id", "tenant_id", "sandbox") REFERENCES "ai_agents"("id", "tenant_id", "sandbox") ON DELETE CASCADE ON UPDATE CASCADE;

SELECT register_table('ai_circuits', 'space', announced => true);
