-- Calls to an upstream that keeps failing are refused for a while; 0 failures: never. Null inherits, as in every column of this table.
ALTER TABLE "route_environment_configs"
  ADD COLUMN "circuit_breaker_failures" INTEGER CHECK ("circuit_breaker_failures" BETWEEN 0 AND 100),
  ADD COLUMN "circuit_breaker_open_sec" INTEGER CHECK ("circuit_breaker_open_sec" BETWEEN 1 AND 600);
