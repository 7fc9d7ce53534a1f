ALTER TABLE "route_environment_configs" ADD COLUMN "upstream_auth" JSONB;
