CREATE TABLE "notifications" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "space" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "severity" TEXT NOT NULL,
    "title" TEXT NOT NULL,
    "body" TEXT NOT NULL,
    "link" TEXT,
    "group_key" TEXT NOT NULL,
    "source" TEXT NOT NULL,
    "resource_type" TEXT,
    "resource_id" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "read_at" TIMESTAMPTZ(3),
    "mail_at" TIMESTAMPTZ(3),
    CONSTRAINT "notifications_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "notifications_space" CHECK ("space" IN ('live', 'test', 'workspace')),
    CONSTRAINT "notifications_kind" CHECK ("kind" IN ('security', 'operations', 'expiry', 'team', 'billing', 'product')),
    CONSTRAINT "notifications_severity" CHECK ("severity" IN ('info', 'warning', 'critical'))
);
CREATE UNIQUE INDEX "notifications_tenant_id_user_id_source_key" ON "notifications"("tenant_id", "user_id", "source");
CREATE INDEX "notifications_tenant_id_user_id_created_at_id_idx" ON "notifications"("tenant_id", "user_id", "created_at" DESC, "id" DESC);
CREATE INDEX "notifications_created_at_idx" ON "notifications"("created_at");
CREATE INDEX "notifications_mail_at_idx" ON "notifications"("mail_at");

CREATE TABLE "notification_settings" (
    "tenant_id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "channels" JSONB NOT NULL DEFAULT '{}',
    "digest" TEXT NOT NULL DEFAULT 'instant',
    "quiet_from" TEXT,
    "quiet_until" TEXT,
    "timezone" TEXT NOT NULL DEFAULT 'UTC',
    "resources" JSONB NOT NULL DEFAULT '[]',
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "notification_settings_pkey" PRIMARY KEY ("tenant_id", "user_id"),
    CONSTRAINT "notification_settings_digest" CHECK ("digest" IN ('instant', 'hourly', 'daily')),
    CONSTRAINT "notification_settings_quiet" CHECK (("quiet_from" IS NULL) = ("quiet_until" IS NULL))
);

-- It belongs to the deployment: the worker alone reads and moves it, and no transaction of a workspace may.
CREATE TABLE "notification_feed" (
    "name" TEXT NOT NULL,
    "position" BIGINT NOT NULL,
    CONSTRAINT "notification_feed_pkey" PRIMARY KEY ("name")
);
-- Nobody is told of what happened before there were notifications.
INSERT INTO notification_feed (name, position) SELECT 'audit', coalesce(max(seq), 0) FROM audit_logs;

SELECT register_table('notifications', 'tenant', privileges => 'SELECT, UPDATE');
SELECT register_table('notification_settings', 'tenant');

-- Rings at the open dashboards of whoever has something new, or has read something in another tab.
CREATE FUNCTION announce_notification() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
BEGIN
  PERFORM pg_notify('notified', t.who) FROM (SELECT DISTINCT tenant_id || ':' || user_id AS who FROM changed) t;
  RETURN NULL;
END $$;
CREATE TRIGGER announce_inserted AFTER INSERT ON notifications REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION announce_notification();
CREATE TRIGGER announce_updated AFTER UPDATE ON notifications REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION announce_notification();

-- Every space of every workspace subscribes the inboxes of its people to the events they are told of; the worker keeps the list of types up to date.
CREATE FUNCTION subscribe_inbox() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
BEGIN
  INSERT INTO event_subscriptions (id, tenant_id, sandbox, channel, destination_id, event_types, max_attempts)
    SELECT gen_random_uuid(), NEW.id, test, 'inbox', gen_random_uuid(), inbox_event_types(), 8 FROM unnest(ARRAY[false, true]) AS test;
  RETURN NULL;
END $$;
CREATE FUNCTION inbox_event_types() RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
  SELECT ARRAY['alert.triggered', 'alert.resolved', 'webhook.disabled', 'workflow.execution.failed', 'agent.offline', 'agent.tamper_detected',
    'secret.expiring', 'secret.expired', 'secret.oauth2.disconnected', 'pki.certificate.expiring', 'usage.threshold_reached',
    'ai.budget.exceeded', 'dyn_db.lease.errored', 'migration.awaiting_review', 'wrap.token.exposed'] $$;
CREATE TRIGGER subscribe_inbox AFTER INSERT ON tenants FOR EACH ROW EXECUTE FUNCTION subscribe_inbox();
INSERT INTO event_subscriptions (id, tenant_id, sandbox, channel, destination_id, event_types, max_attempts)
  SELECT gen_random_uuid(), t.id, test, 'inbox', gen_random_uuid(), inbox_event_types(), 8 FROM tenants t, unnest(ARRAY[false, true]) AS test WHERE t.erased_at IS NULL;
-- No workspace removes or changes its own: a reset of Test deletes every other subscription of the space.
CREATE POLICY keep_inbox ON event_subscriptions AS RESTRICTIVE FOR DELETE TO sallyport_app USING (channel <> 'inbox');
CREATE POLICY fixed_inbox ON event_subscriptions AS RESTRICTIVE FOR UPDATE TO sallyport_app USING (channel <> 'inbox');
