-- When the icon of a route's upstream is next asked for; null when there is nobody to ask. What is there already is asked for at once.
ALTER TABLE "routes" ADD COLUMN "favicon_due_at" TIMESTAMPTZ(3) DEFAULT CURRENT_TIMESTAMP;
CREATE INDEX "routes_favicon_due_at_idx" ON "routes"("favicon_due_at");

-- Icons are no part of what the gateways serve: a new one makes no gateway read the workspace again.
DROP TRIGGER announce ON routes;
CREATE TRIGGER announce AFTER INSERT OR DELETE OR UPDATE OF name, slug, enabled, base_environment_id, collection_id, config_version ON routes
  FOR EACH ROW EXECUTE FUNCTION announce_config();
