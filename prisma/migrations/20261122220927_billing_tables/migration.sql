-- States of a subscription that end by themselves (spec 20 §5), and what the payment provider knows of a workspace.
ALTER TABLE "tenants" ADD COLUMN "dunning_since" TIMESTAMPTZ(3), ADD COLUMN "past_due_since" TIMESTAMPTZ(3), ADD COLUMN "paused_until" TIMESTAMPTZ(3),
  ADD COLUMN "subscription_notice" INTEGER;
SELECT lease_rows('tenants', 'subscription', '{trial_end_at,subscription_cancel_at,dunning_since,past_due_since,paused_until}');

CREATE TABLE "billing_accounts" (
    "tenant_id" UUID NOT NULL,
    "customer_id" TEXT,
    "subscription_id" TEXT,
    "interval" TEXT,
    "payment_method" JSONB,
    "checkout_key" UUID,
    "checkout_for" TEXT,
    "checkout_at" TIMESTAMPTZ(3),
    "checkout_session" TEXT,
    "sync_started" INTEGER NOT NULL DEFAULT 0,
    "sync_applied" INTEGER NOT NULL DEFAULT 0,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "billing_accounts_pkey" PRIMARY KEY ("tenant_id")
);
CREATE UNIQUE INDEX "billing_accounts_customer_id_key" ON "billing_accounts"("customer_id");
ALTER TABLE "billing_accounts" ADD CONSTRAINT "billing_accounts_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id") ON DELETE CASCADE ON UPDATE CASCADE;
SELECT register_table('billing_accounts', 'tenant', privileges => 'SELECT, INSERT, UPDATE');

CREATE TABLE "billing_invoices" (
    "id" TEXT NOT NULL,
    "tenant_id" UUID NOT NULL,
    "number" TEXT,
    "issued_at" TIMESTAMPTZ(3) NOT NULL,
    "amount" INTEGER NOT NULL,
    "currency" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "pdf_url" TEXT,
    "event_at" TIMESTAMPTZ(3) NOT NULL,
    CONSTRAINT "billing_invoices_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "billing_invoices_tenant_id_issued_at_idx" ON "billing_invoices"("tenant_id", "issued_at" DESC);
ALTER TABLE "billing_invoices" ADD CONSTRAINT "billing_invoices_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id") ON DELETE CASCADE ON UPDATE CASCADE;
SELECT register_table('billing_invoices', 'tenant', privileges => 'SELECT');

-- One row per webhook event that was received: an event is processed once, however often it is sent.
CREATE TABLE "billing_events" (
    "id" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "customer_id" TEXT,
    "received_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "billing_events_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "billing_events_received_at_idx" ON "billing_events"("received_at");
REVOKE ALL ON billing_events FROM sallyport_app;
