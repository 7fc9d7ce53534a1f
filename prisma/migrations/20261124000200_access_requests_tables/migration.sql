CREATE TABLE "access_requests" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "person" TEXT NOT NULL,
    "wants" TEXT NOT NULL,
    "reason" TEXT NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'open',
    "decided_by" TEXT,
    "decided_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    CONSTRAINT "access_requests_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "access_requests_wants" CHECK ("wants" IN ('reveal_secrets', 'viewer', 'editor')),
    CONSTRAINT "access_requests_state" CHECK ("state" IN ('open', 'approved', 'denied'))
);
CREATE INDEX "access_requests_tenant_id_created_at_idx" ON "access_requests"("tenant_id", "created_at" DESC);
CREATE UNIQUE INDEX "access_requests_one_open" ON "access_requests"("tenant_id", "user_id", "wants") WHERE "state" = 'open';
SELECT register_table('access_requests', 'tenant');
