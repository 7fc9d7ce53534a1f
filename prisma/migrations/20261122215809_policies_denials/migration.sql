-- How often each policy denied whom, for its page. Written by the processes that deny, read by Owners and Admins.
CREATE TABLE "policy_denials" (
    "tenant_id" UUID NOT NULL,
    "policy_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "capability" TEXT NOT NULL,
    "actor_type" TEXT NOT NULL,
    "actor_id" TEXT NOT NULL,
    "actor_label" TEXT NOT NULL,
    "calls" BIGINT NOT NULL DEFAULT 0,
    "last_at" TIMESTAMPTZ(3) NOT NULL,
    "last_request_id" UUID,

    CONSTRAINT "policy_denials_pkey" PRIMARY KEY ("tenant_id","policy_id","sandbox","capability","actor_type","actor_id")
);
CREATE INDEX "policy_denials_policy_id_last_at_idx" ON "policy_denials"("policy_id", "last_at" DESC);
ALTER TABLE "policy_denials" ADD CONSTRAINT "policy_denials_policy_id_fkey" FOREIGN KEY ("policy_id") REFERENCES "tenant_policies"("id") ON DELETE CASCADE ON UPDATE CASCADE;

SELECT register_table('policy_denials', 'tenant', privileges => 'SELECT');

-- Whether a rule matches is judged by what it says, so what it can't mean is not stored.
ALTER TABLE "tenant_policies" ADD CONSTRAINT "tenant_policies_space" CHECK ("space" IN ('live', 'test', 'both'));
