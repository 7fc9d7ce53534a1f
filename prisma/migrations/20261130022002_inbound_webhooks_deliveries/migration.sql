-- What receivers have taken: the same signed call isn't forwarded twice. See server/domain/inbound-webhooks/deliveries.ts.
ALTER TABLE "inbound_webhooks" ADD COLUMN "allow_duplicates" BOOLEAN NOT NULL DEFAULT false;

CREATE TABLE "inbound_deliveries" (
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "inbound_webhook_id" UUID NOT NULL,
    "digest" BYTEA NOT NULL,
    "request_id" UUID NOT NULL,
    "claimed_at" TIMESTAMPTZ(3) NOT NULL,
    "taken" BOOLEAN NOT NULL DEFAULT false,
    "signed_until" TIMESTAMPTZ(3),

    CONSTRAINT "inbound_deliveries_pkey" PRIMARY KEY ("inbound_webhook_id","digest")
);
CREATE INDEX "inbound_deliveries_signed_until_idx" ON "inbound_deliveries"("signed_until");
CREATE INDEX "inbound_deliveries_tenant_id_sandbox_claimed_at_idx" ON "inbound_deliveries"("tenant_id", "sandbox", "claimed_at");
ALTER TABLE "inbound_deliveries" ADD CONSTRAINT "inbound_deliveries_inbound_webhook_id_fkey" FOREIGN KEY ("inbound_webhook_id") REFERENCES "inbound_webhooks"("id") ON DELETE CASCADE ON UPDATE CASCADE;

SELECT register_table('inbound_deliveries', 'space');
