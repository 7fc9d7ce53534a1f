ALTER TABLE "route_environment_configs" ADD COLUMN "upstream_protocol" TEXT CHECK ("upstream_protocol" IN ('http1', 'http2'));
