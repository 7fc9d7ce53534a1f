-- Events and their deliveries: see server/domain/events and server/domain/deliveries.
CREATE TABLE "event_subscriptions" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "channel" TEXT NOT NULL,
    "destination_id" UUID NOT NULL,
    "event_types" TEXT[],
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    "max_attempts" INTEGER NOT NULL DEFAULT 4,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "event_subscriptions_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "event_subscriptions_channel_destination_id_key" ON "event_subscriptions"("channel", "destination_id");
CREATE INDEX "event_subscriptions_tenant_id_sandbox_idx" ON "event_subscriptions"("tenant_id", "sandbox");

CREATE TABLE "events" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "type" TEXT NOT NULL,
    "source_id" TEXT,
    "occurred_at" TIMESTAMPTZ(3) NOT NULL,
    "payload_ct" BYTEA,
    "cek_wrapped" BYTEA,
    "tmk_version" INTEGER,
    "payload_bytes" INTEGER,
    "dispatch_at" TIMESTAMPTZ(3) DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "events_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "events_expires_at_idx" ON "events"("expires_at");
CREATE INDEX "events_tenant_id_tmk_version_idx" ON "events"("tenant_id", "tmk_version");
CREATE INDEX events_undispatched ON events (dispatch_at) WHERE dispatch_at IS NOT NULL;

CREATE TABLE "deliveries" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "event_id" UUID NOT NULL,
    "channel" TEXT NOT NULL,
    "destination_id" UUID NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'pending',
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "max_attempts" INTEGER NOT NULL,
    "next_attempt_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "locked_by" UUID,
    "locked_until" TIMESTAMPTZ(3),
    "last_status" INTEGER,
    "last_error" TEXT,
    "trigger" TEXT NOT NULL DEFAULT 'event',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "deliveries_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "deliveries_event_id_idx" ON "deliveries"("event_id");
CREATE INDEX "deliveries_tenant_id_sandbox_destination_id_created_at_id_idx" ON "deliveries"("tenant_id", "sandbox", "destination_id", "created_at" DESC, "id" DESC);
ALTER TABLE "deliveries" ADD CONSTRAINT "deliveries_event_id_fkey" FOREIGN KEY ("event_id") REFERENCES "events"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE deliveries ADD CONSTRAINT deliveries_state CHECK (state IN ('pending', 'in_flight', 'succeeded', 'exhausted', 'dropped'));
-- An event goes to a destination once by itself, and as often as somebody asks for it again.
CREATE UNIQUE INDEX deliveries_once ON deliveries (event_id, destination_id) WHERE trigger = 'event';
CREATE INDEX deliveries_pending ON deliveries (destination_id, next_attempt_at, id) WHERE state = 'pending';
CREATE INDEX deliveries_in_flight ON deliveries (locked_until) WHERE state = 'in_flight';

SELECT register_table('event_subscriptions', 'space');
SELECT register_table('events', 'space', privileges => 'SELECT, INSERT');
SELECT register_table('deliveries', 'space', privileges => 'SELECT, INSERT');

-- Every audit entry is an event too, whoever writes it. Its data is the entry itself, so the row carries none until it is dispatched. A definer,
-- because an entry of the workspace is stamped Live even when its cause is in Test.
CREATE FUNCTION raise_audit_events() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
BEGIN
  INSERT INTO events (id, tenant_id, sandbox, type, source_id, occurred_at, expires_at)
    SELECT gen_random_uuid(), w.tenant_id, w.sandbox, 'audit.event', w.id::text, w.created_at, w.created_at + interval '14 days' FROM written w
    WHERE EXISTS (SELECT FROM event_subscriptions s WHERE s.tenant_id = w.tenant_id AND s.sandbox = w.sandbox AND s.enabled AND 'audit.event' = ANY (s.event_types));
  RETURN NULL;
END $$;
REVOKE ALL ON FUNCTION raise_audit_events FROM PUBLIC;
CREATE TRIGGER audit_events AFTER INSERT ON audit_logs REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION raise_audit_events();
