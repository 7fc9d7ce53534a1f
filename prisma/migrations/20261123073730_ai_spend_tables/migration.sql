-- Spend of the AI planes (interface rules 50 §11 and 51 §9): prices, what calls used, what they cost, what is reserved for calls under way.
CREATE TABLE "ai_prices" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "provider" TEXT NOT NULL,
    "model" TEXT NOT NULL,
    "effective_from" TIMESTAMPTZ(3) NOT NULL,
    -- The override ended at effective_from: the system's price counts again.
    "withdrawn" BOOLEAN NOT NULL DEFAULT false,
    "input_per_mtok" DECIMAL(14,6),
    "output_per_mtok" DECIMAL(14,6),
    "cached_input_per_mtok" DECIMAL(14,6),
    "cache_write_per_mtok" DECIMAL(14,6),
    "cache_write_1h_per_mtok" DECIMAL(14,6),
    "reasoning_per_mtok" DECIMAL(14,6),
    "tier_threshold_tokens" INTEGER,
    "tier_input_per_mtok" DECIMAL(14,6),
    "tier_output_per_mtok" DECIMAL(14,6),
    "tier_cached_input_per_mtok" DECIMAL(14,6),
    "tier_cache_write_per_mtok" DECIMAL(14,6),
    "per_request_usd" DECIMAL(14,6),
    "per_image_usd" DECIMAL(14,6),
    "web_search_usd" DECIMAL(14,6),
    "batch_discount" DECIMAL(5,4),
    "created_by" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "ai_prices_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "ai_prices_tenant_id_sandbox_provider_model_effective_from_key" ON "ai_prices"("tenant_id", "sandbox", "provider", "model", "effective_from");

CREATE TABLE "ai_limit_policies" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "name" TEXT NOT NULL,
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    -- {user?, team?, model?, tag?: {key, value?}}; all that are given must match
    "match" JSONB NOT NULL DEFAULT '{}',
    "group_by" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "metric" TEXT NOT NULL,
    "window" TEXT NOT NULL,
    "limit" DECIMAL(20,4) NOT NULL,
    "action" TEXT NOT NULL DEFAULT 'block',
    "created_by" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "ai_limit_policies_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "ai_limit_policies_tenant_id_sandbox_name_key" ON "ai_limit_policies"("tenant_id", "sandbox", "name");
CREATE INDEX "ai_limit_policies_created_at" ON "ai_limit_policies"("tenant_id", "sandbox", "created_at" DESC, "id" DESC);

-- One row per call, refused ones included. Immutable; no foreign keys, so that calls outlive what they name.
CREATE TABLE "ai_request_logs" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "request_id" UUID NOT NULL,
    "ts" TIMESTAMPTZ(3) NOT NULL,
    "plane" TEXT NOT NULL,
    "gateway_id" UUID,
    "agent_id" UUID,
    "mcp_server_id" UUID,
    "token_id" UUID,
    "user" TEXT,
    "team" TEXT,
    "session_id" TEXT,
    "tags" JSONB NOT NULL DEFAULT '{}',
    "operation" TEXT,
    "shape" TEXT,
    "tool" TEXT,
    "provider" TEXT,
    "requested_model" TEXT,
    "final_model" TEXT,
    "route_id" UUID,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "fallback" TEXT,
    "stream" BOOLEAN NOT NULL DEFAULT false,
    "status" TEXT NOT NULL,
    "http_status" INTEGER,
    "origin" TEXT NOT NULL,
    "code" TEXT,
    "upstream_status" INTEGER,
    "latency_ms" INTEGER,
    "upstream_ms" INTEGER,
    "first_byte_ms" INTEGER,
    "usage" JSONB,
    "input_tokens" BIGINT NOT NULL DEFAULT 0,
    "output_tokens" BIGINT NOT NULL DEFAULT 0,
    "cost_nano" BIGINT,
    "priced" BOOLEAN NOT NULL DEFAULT true,
    "cache" TEXT,
    "firewall" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "pii" JSONB NOT NULL DEFAULT '{}',
    "guardrail" TEXT,
    "warnings" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "ip" TEXT,
    "user_agent" TEXT,
    "request_bytes" BIGINT,
    "response_bytes" BIGINT,

    CONSTRAINT "ai_request_logs_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "ai_request_logs_ts" ON "ai_request_logs"("tenant_id", "sandbox", "ts" DESC, "id" DESC);
CREATE INDEX "ai_request_logs_agent" ON "ai_request_logs"("agent_id", "ts" DESC, "id" DESC);
CREATE INDEX "ai_request_logs_request_id" ON "ai_request_logs"("tenant_id", "request_id");

-- What one call used and cost: one row per charged attempt. seq grows with every row; the rollup job keeps the last one that it has folded.
CREATE TABLE "ai_usage_events" (
    "call_id" UUID NOT NULL,
    "attempt" INTEGER NOT NULL DEFAULT 0,
    "seq" BIGSERIAL NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "request_id" UUID NOT NULL,
    "ts" TIMESTAMPTZ(3) NOT NULL,
    "plane" TEXT NOT NULL,
    "gateway_id" UUID,
    "agent_id" UUID,
    "mcp_server_id" UUID,
    "token_id" UUID,
    "user" TEXT,
    "team" TEXT,
    "provider" TEXT,
    "model" TEXT,
    "tags" JSONB NOT NULL DEFAULT '{}',
    "requests" INTEGER NOT NULL DEFAULT 1,
    "refused_requests" INTEGER NOT NULL DEFAULT 0,
    "errors" INTEGER NOT NULL DEFAULT 0,
    "cache_hits" INTEGER NOT NULL DEFAULT 0,
    "unpriced_requests" INTEGER NOT NULL DEFAULT 0,
    "estimated_requests" INTEGER NOT NULL DEFAULT 0,
    "input_tokens" BIGINT NOT NULL DEFAULT 0,
    "cached_input_tokens" BIGINT NOT NULL DEFAULT 0,
    "cache_write_tokens" BIGINT NOT NULL DEFAULT 0,
    "output_tokens" BIGINT NOT NULL DEFAULT 0,
    "reasoning_tokens" BIGINT NOT NULL DEFAULT 0,
    -- nano-USD; 0 when the model has no price
    "cost_nano" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "ai_usage_events_pkey" PRIMARY KEY ("call_id", "attempt")
);
CREATE UNIQUE INDEX "ai_usage_events_seq_key" ON "ai_usage_events"("seq");
CREATE INDEX "ai_usage_events_ts" ON "ai_usage_events"("tenant_id", "sandbox", "ts");

CREATE TABLE "ai_usage_daily" (
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "date" DATE NOT NULL,
    -- SHA-256 of what a row is summed by
    "dimensions" BYTEA NOT NULL,
    "gateway_id" UUID,
    "agent_id" UUID,
    "mcp_server_id" UUID,
    "token_id" UUID,
    "user" TEXT,
    "team" TEXT,
    "provider" TEXT,
    "model" TEXT,
    "tags" JSONB NOT NULL DEFAULT '{}',
    "requests" BIGINT NOT NULL DEFAULT 0,
    "refused_requests" BIGINT NOT NULL DEFAULT 0,
    "errors" BIGINT NOT NULL DEFAULT 0,
    "cache_hits" BIGINT NOT NULL DEFAULT 0,
    "unpriced_requests" BIGINT NOT NULL DEFAULT 0,
    "estimated_requests" BIGINT NOT NULL DEFAULT 0,
    "input_tokens" BIGINT NOT NULL DEFAULT 0,
    "cached_input_tokens" BIGINT NOT NULL DEFAULT 0,
    "cache_write_tokens" BIGINT NOT NULL DEFAULT 0,
    "output_tokens" BIGINT NOT NULL DEFAULT 0,
    "reasoning_tokens" BIGINT NOT NULL DEFAULT 0,
    "cost_nano" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "ai_usage_daily_pkey" PRIMARY KEY ("tenant_id", "sandbox", "date", "dimensions")
);

-- How far the rollup has come: one row.
CREATE TABLE "ai_usage_watermark" (
    "id" BOOLEAN NOT NULL DEFAULT true,
    "seq" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "ai_usage_watermark_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "ai_usage_watermark_single" CHECK ("id")
);
INSERT INTO "ai_usage_watermark" DEFAULT VALUES;
REVOKE ALL ON "ai_usage_watermark" FROM PUBLIC;
GRANT SELECT ON "ai_usage_watermark" TO sallyport_app;

CREATE TABLE "ai_spend_counters" (
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    -- token, agent, gateway, policy
    "subject_type" TEXT NOT NULL,
    -- an ID; of a policy that groups, its ID and what stands for the group
    "subject_id" TEXT NOT NULL,
    -- minute, hour, day, month
    "period" TEXT NOT NULL,
    "period_start" TIMESTAMPTZ(3) NOT NULL,
    "spent_nano" BIGINT NOT NULL DEFAULT 0,
    "reserved_nano" BIGINT NOT NULL DEFAULT 0,
    "tokens" BIGINT NOT NULL DEFAULT 0,
    "reserved_tokens" BIGINT NOT NULL DEFAULT 0,
    -- admitted calls; counted only where a limit asks for it
    "requests" BIGINT NOT NULL DEFAULT 0,
    -- the highest share of the budget, in percent, that an alert was given for
    "alerted_pct" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "ai_spend_counters_pkey" PRIMARY KEY ("tenant_id", "sandbox", "subject_type", "subject_id", "period", "period_start")
);
CREATE INDEX "ai_spend_counters_period_start" ON "ai_spend_counters"("period_start");

CREATE TABLE "ai_reservations" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "request_id" UUID NOT NULL,
    "nano" BIGINT NOT NULL,
    "tokens" BIGINT NOT NULL,
    -- keys of the counters that hold it: [{t, k, p, s}]
    "counters" JSONB NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "ai_reservations_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "ai_reservations_expires_at" ON "ai_reservations"("expires_at");

-- An alert is given once per subject, period and threshold. Its event is raised after it: raised_at says that this was done.
CREATE TABLE "ai_alerts" (
    "id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    -- budget or upstream
    "kind" TEXT NOT NULL,
    "subject_type" TEXT NOT NULL,
    "subject_id" TEXT NOT NULL,
    "period" TEXT NOT NULL,
    "period_start" TIMESTAMPTZ(3) NOT NULL,
    -- percent
    "threshold" INTEGER NOT NULL,
    "data" JSONB NOT NULL DEFAULT '{}',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "raised_at" TIMESTAMPTZ(3),

    CONSTRAINT "ai_alerts_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "ai_alerts_once" ON "ai_alerts"("tenant_id", "sandbox", "kind", "subject_type", "subject_id", "period", "period_start", "threshold");
CREATE INDEX "ai_alerts_unraised" ON "ai_alerts"("created_at") WHERE "raised_at" IS NULL;
CREATE INDEX "ai_alerts_created_at" ON "ai_alerts"("tenant_id", "sandbox", "created_at" DESC, "id" DESC);

SELECT register_table('ai_prices', 'space', announced => true);
SELECT register_table('ai_limit_policies', 'space', announced => true);
SELECT register_table('ai_request_logs', 'space');
SELECT register_table('ai_usage_events', 'space');
SELECT register_table('ai_usage_daily', 'space');
SELECT register_table('ai_spend_counters', 'space');
SELECT register_table('ai_reservations', 'space');
SELECT register_table('ai_alerts', 'space');
GRANT USAGE ON SEQUENCE ai_usage_events_seq_seq TO sallyport_app;

-- Counters are locked in this order everywhere, so that two transactions never wait for each other in a circle.
CREATE FUNCTION ai_lock_rank(subject_type text) RETURNS int LANGUAGE sql IMMUTABLE AS $$
  SELECT array_position(ARRAY['token', 'agent', 'gateway', 'policy'], subject_type) $$;

-- Makes the counters that are missing and locks all of them. keys: [{t, k, p, s}] (subject type and ID, period and its start).
CREATE FUNCTION ai_lock_counters(tenant uuid, test boolean, keys jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO ai_spend_counters (tenant_id, sandbox, subject_type, subject_id, period, period_start)
    SELECT tenant, test, t, k, p, s FROM (SELECT DISTINCT t, k COLLATE "C" AS k, p, s FROM jsonb_to_recordset(keys) AS r (t text, k text, p text, s timestamptz)) AS wanted
    ORDER BY ai_lock_rank(t), k, p, s
    ON CONFLICT DO NOTHING;
  PERFORM FROM (SELECT FROM ai_spend_counters c
    WHERE c.tenant_id = tenant AND c.sandbox = test AND (c.subject_type, c.subject_id, c.period, c.period_start)
      IN (SELECT t, k, p, s FROM jsonb_to_recordset(keys) AS r (t text, k text, p text, s timestamptz))
    ORDER BY ai_lock_rank(c.subject_type), c.subject_id COLLATE "C", c.period, c.period_start FOR NO KEY UPDATE) AS locked;
END $$;

-- Admits calls one after another. counters: [{t, k, p, s}]; calls: [{id, request_id, expires_at, nano, tokens, lines: [{c, nano, tokens, requests, block}]}],
-- where c is the position of a counter, from 0, and the limits of a line are null where there is none. A limit is full when what was spent and what is
-- reserved have reached it; a call is refused when a full line blocks, and reserves nothing then.
-- Returns [{refused, full: [{l, m, spent, held}]}] in the order of the calls: l is the position of a line, m is usd, tokens or requests.
CREATE FUNCTION ai_reserve(tenant uuid, test boolean, counters jsonb, calls jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  spent bigint[]; held bigint[]; used bigint[]; held_tokens bigint[]; counted bigint[];
  results jsonb[] := '{}'; reservations jsonb[] := '{}';
  call jsonb; line jsonb; full_lines jsonb[]; refused boolean; i int; l int;
BEGIN
  PERFORM set_config('app.tenant_id', tenant::text, true), set_config('app.sandbox', test::text, true);
  PERFORM ai_lock_counters(tenant, test, counters);
  SELECT array_agg(c.spent_nano ORDER BY n), array_agg(c.reserved_nano ORDER BY n), array_agg(c.tokens ORDER BY n), array_agg(c.reserved_tokens ORDER BY n),
      array_agg(c.requests ORDER BY n)
    INTO spent, held, used, held_tokens, counted
    FROM ROWS FROM (jsonb_to_recordset(counters) AS (t text, k text, p text, s timestamptz)) WITH ORDINALITY AS r (t, k, p, s, n)
    JOIN ai_spend_counters c ON c.tenant_id = tenant AND c.sandbox = test AND (c.subject_type, c.subject_id, c.period, c.period_start) = (r.t, r.k, r.p, r.s);
  FOR call IN SELECT * FROM jsonb_array_elements(calls) LOOP
    full_lines := '{}'; refused := false; l := 0;
    FOR line IN SELECT * FROM jsonb_array_elements(call -> 'lines') LOOP
      i := (line ->> 'c')::int + 1;
      IF spent[i] + held[i] >= (line ->> 'nano')::bigint THEN
        full_lines := full_lines || jsonb_build_object('l', l, 'm', 'usd', 'spent', spent[i]::text, 'held', held[i]::text);
        refused := refused OR (line ->> 'block')::boolean;
      END IF;
      IF used[i] + held_tokens[i] >= (line ->> 'tokens')::bigint THEN
        full_lines := full_lines || jsonb_build_object('l', l, 'm', 'tokens', 'spent', used[i]::text, 'held', held_tokens[i]::text);
        refused := refused OR (line ->> 'block')::boolean;
      END IF;
      IF counted[i] >= (line ->> 'requests')::bigint THEN
        full_lines := full_lines || jsonb_build_object('l', l, 'm', 'requests', 'spent', counted[i]::text, 'held', '0');
        refused := refused OR (line ->> 'block')::boolean;
      END IF;
      l := l + 1;
    END LOOP;
    results := results || jsonb_build_object('refused', refused, 'full', to_jsonb(full_lines));
    CONTINUE WHEN refused;
    FOR line IN SELECT * FROM jsonb_array_elements(call -> 'lines') LOOP
      i := (line ->> 'c')::int + 1;
      held[i] := held[i] + (call ->> 'nano')::bigint;
      held_tokens[i] := held_tokens[i] + (call ->> 'tokens')::bigint;
      counted[i] := counted[i] + 1;
    END LOOP;
    reservations := reservations || jsonb_build_object('id', call ->> 'id', 'request_id', call ->> 'request_id', 'nano', call ->> 'nano', 'tokens', call ->> 'tokens',
      'expires_at', call ->> 'expires_at', 'counters', (SELECT jsonb_agg(counters -> (x ->> 'c')::int) FROM jsonb_array_elements(call -> 'lines') x));
  END LOOP;
  IF cardinality(reservations) > 0 THEN
    UPDATE ai_spend_counters c SET reserved_nano = held[r.n], reserved_tokens = held_tokens[r.n], requests = counted[r.n]
      FROM ROWS FROM (jsonb_to_recordset(counters) AS (t text, k text, p text, s timestamptz)) WITH ORDINALITY AS r (t, k, p, s, n)
      WHERE c.tenant_id = tenant AND c.sandbox = test AND (c.subject_type, c.subject_id, c.period, c.period_start) = (r.t, r.k, r.p, r.s);
    INSERT INTO ai_reservations (id, tenant_id, sandbox, request_id, nano, tokens, counters, expires_at)
      SELECT r.id, tenant, test, r.request_id, r.nano, r.tokens, r.counters, r.expires_at
      FROM jsonb_to_recordset(to_jsonb(reservations)) AS r (id uuid, request_id uuid, nano bigint, tokens bigint, counters jsonb, expires_at timestamptz);
  END IF;
  RETURN to_jsonb(results);
END $$;

-- Settles calls: log rows, usage events, spend and the end of reservations, all or nothing, each once however often it is tried.
-- logs, events: rows of the tables. spend: [{call_id, attempt, t, k, p, s, cap, at}], what a new event is added to; cap is in nano-USD or null, at are the
-- percentages that give an alert. reservations: IDs. Returns the alerts that are due: [{id, ...}].
CREATE FUNCTION ai_settle(tenant uuid, test boolean, logs jsonb, events jsonb, spend jsonb, reservations jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE changes jsonb; more jsonb; due jsonb;
BEGIN
  PERFORM set_config('app.tenant_id', tenant::text, true), set_config('app.sandbox', test::text, true);
  -- Shared with other writers; the rollup takes it alone for a moment, and then knows that no lower seq is still to come.
  PERFORM pg_advisory_xact_lock_shared(hashtext('ai_usage_events'));
  INSERT INTO ai_request_logs SELECT * FROM jsonb_populate_recordset(NULL::ai_request_logs, logs) r WHERE r.tenant_id = tenant AND r.sandbox = test
    ON CONFLICT DO NOTHING;
  WITH added AS (
      INSERT INTO ai_usage_events (call_id, attempt, tenant_id, sandbox, request_id, ts, plane, gateway_id, agent_id, mcp_server_id, token_id, "user", team, provider, model, tags,
        requests, refused_requests, errors, cache_hits, unpriced_requests, estimated_requests, input_tokens, cached_input_tokens, cache_write_tokens, output_tokens,
        reasoning_tokens, cost_nano)
      SELECT call_id, attempt, tenant, test, request_id, ts, plane, gateway_id, agent_id, mcp_server_id, token_id, "user", team, provider, model, tags,
        requests, refused_requests, errors, cache_hits, unpriced_requests, estimated_requests, input_tokens, cached_input_tokens, cache_write_tokens, output_tokens,
        reasoning_tokens, cost_nano FROM jsonb_populate_recordset(NULL::ai_usage_events, events)
      ON CONFLICT DO NOTHING RETURNING call_id, attempt, cost_nano, input_tokens + output_tokens AS tokens)
    SELECT jsonb_agg(jsonb_build_object('t', s.t, 'k', s.k, 'p', s.p, 's', s.s, 'cap', s.cap, 'at', s.at, 'nano', a.cost_nano, 'tokens', a.tokens, 'held', 0, 'held_tokens', 0)) INTO changes
    FROM added a JOIN jsonb_to_recordset(spend) AS s (call_id uuid, attempt int, t text, k text, p text, s timestamptz, cap bigint, at int[])
      ON s.call_id = a.call_id AND s.attempt = a.attempt;
  WITH gone AS (DELETE FROM ai_reservations r WHERE r.id IN (SELECT x::uuid FROM jsonb_array_elements_text(reservations) x) RETURNING r.nano, r.tokens, r.counters)
    SELECT jsonb_agg(jsonb_build_object('t', c.t, 'k', c.k, 'p', c.p, 's', c.s, 'nano', 0, 'tokens', 0, 'held', g.nano, 'held_tokens', g.tokens)) INTO more
    FROM gone g, jsonb_to_recordset(g.counters) AS c (t text, k text, p text, s timestamptz);
  changes := coalesce(changes, '[]') || coalesce(more, '[]');
  IF changes = '[]' THEN RETURN '[]'; END IF;
  PERFORM ai_lock_counters(tenant, test, changes);
  WITH sums AS (
      SELECT t, k, p, s, sum(nano) AS nano, sum(tokens) AS tokens, sum(held) AS held, sum(held_tokens) AS held_tokens, max(cap) AS cap, max(at) AS at
      FROM jsonb_to_recordset(changes) AS r (t text, k text, p text, s timestamptz, cap bigint, at int[], nano bigint, tokens bigint, held bigint, held_tokens bigint)
      GROUP BY t, k, p, s),
    crossed AS (
      SELECT sums.*, c.alerted_pct, (SELECT max(x) FROM unnest(sums.at) x WHERE sums.cap > 0 AND (c.spent_nano + sums.nano) * 100 >= sums.cap * x AND x > c.alerted_pct) AS reached
      FROM sums JOIN ai_spend_counters c ON c.tenant_id = tenant AND c.sandbox = test AND (c.subject_type, c.subject_id, c.period, c.period_start) = (sums.t, sums.k, sums.p, sums.s)),
    changed AS (
      UPDATE ai_spend_counters c SET spent_nano = c.spent_nano + x.nano, tokens = c.tokens + x.tokens, reserved_nano = c.reserved_nano - x.held,
          reserved_tokens = c.reserved_tokens - x.held_tokens, alerted_pct = greatest(c.alerted_pct, x.reached)
        FROM crossed x
        WHERE c.tenant_id = tenant AND c.sandbox = test AND (c.subject_type, c.subject_id, c.period, c.period_start) = (x.t, x.k, x.p, x.s)
        RETURNING x.t, x.k, x.p, x.s, x.cap, x.at, x.reached, x.alerted_pct, c.spent_nano),
    given AS (
      INSERT INTO ai_alerts (tenant_id, sandbox, kind, subject_type, subject_id, period, period_start, threshold, data)
        SELECT tenant, test, 'budget', d.t, d.k, d.p, d.s, x, jsonb_build_object('spent_nano', d.spent_nano::text, 'cap_nano', d.cap::text)
        FROM changed d, unnest(d.at) x WHERE d.reached IS NOT NULL AND x > d.alerted_pct AND x <= d.reached
        ON CONFLICT DO NOTHING RETURNING *)
    SELECT jsonb_agg(to_jsonb(given)) INTO due FROM given;
  RETURN coalesce(due, '[]');
END $$;
REVOKE ALL ON FUNCTION ai_lock_rank, ai_lock_counters, ai_reserve, ai_settle FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ai_lock_rank, ai_lock_counters, ai_reserve, ai_settle TO sallyport_app;
